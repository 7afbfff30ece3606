"""The leaf whose next use is farthest away, then the least recent."""

from tests.naive.leaves import Leafwise


class Twin(Leafwise):
    def ranked(self, block, position, now):
        return -self.cache.next_use[block], self.cache.request
