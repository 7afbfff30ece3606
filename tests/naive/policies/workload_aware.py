"""The class whose oldest block scores lowest, from a list of blocks for each class, oldest first."""

from math import exp

from tests.naive.simulation import NaivePolicy

SHARE = 0.05
PRIOR = 1e6


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.known = {}  # block: its class, its offset
        self.last = {}  # block: clock of its last use
        self.life = PRIOR
        self.mean = {}  # class: mean gap
        self.blocks = {}  # class: residents
        self.heads = []  # of the allocation: score, -offset, number, block

    def path(self, request):
        clock = self.cache.clock
        for offset, block in enumerate(self.cache.requests[request]):
            if block in self.known:
                category, _ = self.known[block]
                gap = clock - self.last[block]
                if gap > 0:
                    self.mean[category] = (1 - SHARE) * self.mean[category] + SHARE * gap
                    self.life = (1 - SHARE) * self.life + SHARE * gap
                if block in self.blocks[category]:
                    self.blocks[category].remove(block)
                    self.blocks[category].append(block)
            else:
                category = self.cache.context.category[request]
                self.known[block] = category, offset
                self.mean.setdefault(category, PRIOR)
                self.blocks.setdefault(category, [])
            self.last[block] = clock
            clock += 1

    def insert(self, block, position, now):
        category, _ = self.known[block]
        self.blocks[category].append(block)

    def hit(self, block, position, now):
        assert block in self.blocks[self.known[block][0]]

    def begin_allocation(self):
        self.heads, self.made = [], 0
        for category in self.blocks:
            self.add_head(category)

    def add_head(self, category):
        block = next((b for b in self.blocks[category] if not self.cache.pinned(b)), None)
        if block is not None:
            t, mean = self.cache.clock - self.last[block], self.mean[category]
            score = exp(-t / mean) * (1 - exp(-self.life / mean))
            self.heads.append((score, -self.known[block][1], self.made, block))
            self.made += 1

    def evict(self, now):
        head = min(self.heads)
        self.heads.remove(head)
        block = head[3]
        category, _ = self.known.pop(block)
        del self.last[block]
        self.blocks[category].remove(block)
        self.add_head(category)
        return block
