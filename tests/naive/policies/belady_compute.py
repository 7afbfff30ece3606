"""The largest distance per cost among many draws; a block never used again ends the search."""

from tests.naive.pool import Sampler
from tests.naive.simulation import NEVER


class Twin(Sampler):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.cost = {}

    def touch(self, block, position):
        self.cost[block] = max(1, self.cache.policy_cost(position))

    def evict(self, now):
        drawn = []
        for _ in range(self.params.n_samples):
            drawn.append(self.draw())
            if self.cache.next_use[drawn[-1]] == NEVER:
                return self.leave(drawn[-1])
        return self.leave(max(drawn, key=lambda block: (self.cache.next_use[block] - now) / self.cost[block]))
