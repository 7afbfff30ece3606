"""LRU on a list, newest first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.order = []

    def hit(self, block, position, now):
        self.order.remove(block)
        self.order.insert(0, block)

    def insert(self, block, position, now):
        self.order.insert(0, block)

    def evict(self, now):
        victim = next(b for b in reversed(self.order) if not self.cache.pinned(b))
        self.order.remove(victim)
        return victim
