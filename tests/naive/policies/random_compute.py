"""The lowest cost per age among many draws."""

from tests.naive.pool import Sampler


class Twin(Sampler):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.cost, self.touched, self.hits = {}, {}, {}

    def enter(self, block):
        self.hits[block] = -1

    def touch(self, block, position):
        self.hits[block] += 1
        self.cost[block], self.touched[block] = self.cache.policy_cost(position), self.cache.stamp

    def score(self, block, now):
        return self.cost[block] / max(1, now - self.touched[block])

    def evict(self, now):
        return self.leave(self.least(lambda block: self.score(block, now)))
