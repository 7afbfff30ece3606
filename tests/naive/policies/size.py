"""SIZE on the list that a binary heap of equals is: the root first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.slots = []

    def hit(self, block, position, now):
        pass

    def insert(self, block, position, now):
        self.slots.append(block)

    def evict(self, now):
        if self.cache.pinned(self.slots[0]):
            victim = next(b for b in reversed(self.slots) if not self.cache.pinned(b))
            self.slots.remove(victim)
            return victim
        victim, last = self.slots[0], self.slots.pop()
        if self.slots:
            self.slots[0] = last
        return victim
