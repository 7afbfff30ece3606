"""CLOCK on a list, newest first, and a dict of counters."""

from tests.naive.policies.lru import Twin as Lru


class Twin(Lru):
    def __init__(self, capacity, params, seed):
        self.order, self.count = [], {}
        self.initial, self.most = params.initial, 2**params.bits - 1

    def hit(self, block, position, now):
        self.count[block] = min(self.count[block] + 1, self.most)

    def insert(self, block, position, now):
        self.order.insert(0, block)
        self.count[block] = self.initial

    def evict(self, now):
        while True:
            block = super().evict(now)  # the oldest that is not pinned, taken out
            if self.count[block] == 0:
                return block
            self.count[block] -= 1
            self.order.insert(0, block)
