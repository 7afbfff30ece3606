"""FIFO-Merge on a list, newest first; the hand is a block, None: at the old end."""

from tests.naive.rng import Twin as Draws
from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.order, self.hits, self.hand, self.leaving = [], {}, None, []
        self.params, self.draws = params, Draws(seed)

    def hit(self, block, position, now):
        self.hits[block] += 1

    def insert(self, block, position, now):
        self.order.insert(0, block)
        self.hits[block] = 0

    def after(self, block):
        at = self.order.index(block)
        return self.order[at - 1] if at else None

    def examine(self):
        scores = {}
        for _ in self.order:
            block = self.order[-1] if self.hand is None else self.hand
            self.hand = self.after(block)
            if not self.cache.pinned(block):
                scores[block] = self.hits[block] + self.draws.uniform()
            if len(scores) == self.params.examine:
                break
        kept = len(scores) * self.params.keep // self.params.examine
        self.leaving = sorted(scores, key=scores.get)[: len(scores) - kept]

    def evict(self, now):
        if len(self.order) <= self.params.examine:
            self.leaving = []
            victim = next(b for b in reversed(self.order) if not self.cache.pinned(b))
        else:
            victim = None
            while victim is None:
                if not self.leaving:
                    self.examine()
                block = self.leaving.pop(0)
                victim = None if self.cache.pinned(block) else block
        if victim == self.hand:
            self.hand = self.after(victim)
        self.order.remove(victim)
        return victim
