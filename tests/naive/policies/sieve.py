"""SIEVE on a list, newest first, with a set of visited blocks and the hand as a block."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.order, self.visited, self.hand = [], set(), None

    def hit(self, block, position, now):
        self.visited.add(block)

    def insert(self, block, position, now):
        self.order.insert(0, block)

    def evict(self, now):
        at = len(self.order) - 1 if self.hand is None else self.order.index(self.hand)
        while self.cache.pinned(self.order[at]) or self.order[at] in self.visited:
            if not self.cache.pinned(self.order[at]):
                self.visited.discard(self.order[at])
            at = at - 1 if at else len(self.order) - 1
        victim = self.order.pop(at)
        self.hand = self.order[at - 1] if at else None
        return victim
