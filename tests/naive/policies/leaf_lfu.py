"""The leaf that the fewest requests have used, then the least recent."""

from tests.naive.leaves import Leafwise


class Twin(Leafwise):
    def ranked(self, block, position, now):
        return self.uses[block], self.cache.request
