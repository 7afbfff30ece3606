"""The pool of residents on two lists: drawable members, then those set aside."""

from __future__ import annotations

from tests.naive.rng import Twin as Rng
from tests.naive.simulation import NaivePolicy


class Sampler(NaivePolicy):
    """A policy that draws victims from ``self.members[: self.drawable]``."""

    def __init__(self, capacity, params, seed):
        self.params, self.rng = params, Rng(seed)
        self.members, self.drawable = [], 0

    def begin_allocation(self):
        self.drawable = len(self.members)
        for block in self.cache.requests[self.cache.request]:
            if self.cache.pinned(block) and block in self.members[: self.drawable]:
                self.drawable -= 1
                self.swap(self.members.index(block), self.drawable)

    def swap(self, i, j):
        self.members[i], self.members[j] = self.members[j], self.members[i]

    def draw(self):
        return self.members[self.rng.below(self.drawable)]

    def leave(self, block):
        """The gap is closed by the last drawable member, the next one by the last member of all."""
        self.swap(self.members.index(block), self.drawable - 1)
        self.swap(self.drawable - 1, len(self.members) - 1)
        self.members.pop()
        self.drawable -= 1
        return block

    def hit(self, block, position, now):
        self.touch(block, position)

    def insert(self, block, position, now):
        self.members.append(block)
        self.enter(block)
        self.touch(block, position)

    def enter(self, block):
        """A block becomes resident."""

    def touch(self, block, position):
        """A block is accessed, also right after it became resident."""

    def least(self, score):
        """Draw as many as the parameter says; the first one with the lowest score."""
        drawn = self.rng.many_below(self.drawable, self.params.n_samples)
        return min((self.members[slot] for slot in drawn), key=score)
