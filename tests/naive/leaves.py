"""Policies that let only leaves go, slow and obvious: every block is asked whether a resident stands on it."""

from itertools import pairwise

from tests.naive.simulation import NaivePolicy


class Leafwise(NaivePolicy):
    """``rank``: of each resident block, the lowest goes first."""

    def __init__(self, capacity, params, seed):
        self.params = params
        self.rank = {}
        self.uses = {}  # requests that have used the block since it became resident

    def hit(self, block, position, now):
        self.uses[block] += 1
        self.rank[block] = self.ranked(block, position, now)

    def insert(self, block, position, now):
        self.uses[block] = 1
        self.rank[block] = self.ranked(block, position, now)

    def ranked(self, block, position, now):
        raise AssertionError

    def evict(self, now):
        parents = {block: before for blocks in self.cache.requests for before, block in pairwise(blocks)}
        for block in self.rank:
            assert block not in parents or parents[block] in self.rank, "a block without its parent"
        bearing = {parents[block] for block in self.rank if block in parents}
        leaves = [block for block in self.rank if block not in bearing and not self.cache.pinned(block)]
        victim = min(leaves, key=self.rank.__getitem__)
        self.forget(victim)
        return victim

    def forget(self, block):
        del self.rank[block], self.uses[block]
