"""Belady: the farthest next use is looked for among all residents; of equal ones, the block touched longest ago."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.touched = {}

    def hit(self, block, position, now):
        self.touched[block] = now

    def insert(self, block, position, now):
        self.touched[block] = now

    def evict(self, now):
        victims = [b for b in self.touched if not self.cache.pinned(b)]
        victim = max(victims, key=lambda b: (self.cache.next_use[b], -self.touched[b]))
        del self.touched[victim]
        return victim
