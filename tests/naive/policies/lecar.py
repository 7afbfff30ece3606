"""LeCaR: a recency list, a table of (count, time of the last change), and two lists of remembered victims."""

import math

from tests.naive.rng import Twin as Random
from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.rate, self.discount, self.limit = params.rate, 0.005 ** (1 / capacity), capacity // 2
        self.recent, self.count, self.changed = [], {}, {}  # newest first
        self.ghosts = {"lru": [], "lfu": []}  # (block, time it went), newest first
        self.weight = 0.5
        self.random = Random(seed)

    def hit(self, block, position, now):
        self.recent.remove(block)
        self.recent.insert(0, block)
        self.count[block] += 1
        self.changed[block] = now

    def insert(self, block, position, now):
        for expert, ghosts in self.ghosts.items():
            for ghost, gone in list(ghosts):
                if ghost == block:
                    ghosts.remove((ghost, gone))
                    weights = {"lru": self.weight, "lfu": 1 - self.weight}
                    weights[expert] *= math.exp(-self.rate * self.discount ** (now - gone))
                    self.weight = (weights["lru"] + 1e-10) / (weights["lru"] + weights["lfu"] + 2e-10)
        self.recent.insert(0, block)
        self.count[block], self.changed[block] = 1, now

    def evict(self, now):
        free = [block for block in self.recent if not self.cache.pinned(block)]
        oldest = free[-1]
        rarest = min(free, key=lambda block: (self.count[block], self.changed[block]))
        victim = oldest
        if oldest != rarest:
            expert = "lru" if self.random.uniform() < self.weight else "lfu"
            victim = oldest if expert == "lru" else rarest
            self.remember(self.ghosts[expert], victim, now)
        self.recent.remove(victim)
        del self.count[victim]
        return victim

    def remember(self, ghosts, victim, now):
        if self.limit == 0:
            return
        if len(ghosts) >= self.limit:
            free = [entry for entry in ghosts if not self.cache.pinned(entry[0])]
            ghosts.remove(free[-1] if free else ghosts[-1])
        ghosts.insert(0, (victim, now))
