"""The older of two draws; the second where both are equally old."""

from tests.naive.pool import Sampler


class Twin(Sampler):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.touched = {}

    def touch(self, block, position):
        self.touched[block] = self.cache.stamp

    def evict(self, now):
        first, second = self.draw(), self.draw()
        return self.leave(first if self.touched[first] < self.touched[second] else second)
