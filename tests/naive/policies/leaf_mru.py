"""The leaf whose last access is most recent."""

from tests.naive.leaves import Leafwise


class Twin(Leafwise):
    def ranked(self, block, position, now):
        return -self.cache.request
