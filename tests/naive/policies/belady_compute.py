"""The largest distance per cost among many draws; the first one never used again beats all."""

from tests.naive.pool import Sampler
from tests.naive.simulation import NEVER


class Twin(Sampler):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.cost = {}

    def touch(self, block, position):
        self.cost[block] = max(1, self.cache.policy_cost(position))

    def distance(self, block, now):
        following = self.cache.next_use[block]
        return float("inf") if following == NEVER else (following - now) / self.cost[block]

    def evict(self, now):
        return self.leave(self.least(lambda block: -self.distance(block, now)))
