"""The lowest rate of accesses among many draws."""

from tests.naive.pool import Sampler


class Twin(Sampler):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.frequency, self.entered = {}, {}

    def enter(self, block):
        self.frequency[block], self.entered[block] = 0, self.cache.stamp

    def touch(self, block, position):
        self.frequency[block] += 1

    def evict(self, now):
        return self.leave(self.least(lambda b: self.frequency[b] / max(1, now - self.entered[b])))
