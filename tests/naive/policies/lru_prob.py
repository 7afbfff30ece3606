"""LRU-Prob on a list, newest first."""

from tests.naive.policies.lru import Twin as Lru
from tests.naive.rng import Twin as Draws


class Twin(Lru):
    def __init__(self, capacity, params, seed):
        self.order, self.probability, self.draws = [], params.probability, Draws(seed)

    def hit(self, block, position, now):
        if self.draws.uniform() < self.probability:
            super().hit(block, position, now)
