"""Leaves with too few uses before the others, each by last access."""

from tests.naive.leaves import Leafwise


class Twin(Leafwise):
    def ranked(self, block, position, now):
        return self.uses[block] >= self.params.protected_uses, self.cache.request
