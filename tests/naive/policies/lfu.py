"""LFU on a list of (count, time of the last change) a block."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.count, self.changed = {}, {}

    def hit(self, block, position, now):
        self.count[block] += 1
        self.changed[block] = now

    def insert(self, block, position, now):
        self.count[block] = 1
        self.changed[block] = now

    def evict(self, now):
        victim = min(
            (b for b in self.count if not self.cache.pinned(b)), key=lambda b: (self.count[b], self.changed[b])
        )
        del self.count[victim]
        return victim
