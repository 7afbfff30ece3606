"""Every block with the time it was last used: the old die when a request arrives; without room the oldest goes."""

from fractions import Fraction

from tests.naive.policies.lru import Twin as Lru


class Twin(Lru):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.ttl = Fraction(params.seconds)
        self.used = {}

    def now(self):
        return Fraction(self.cache.context.arrival_ns[self.cache.request], 10**9)

    def hit(self, block, position, now):
        super().hit(block, position, now)
        self.used[block] = self.now()

    def insert(self, block, position, now):
        super().insert(block, position, now)
        self.used[block] = self.now()

    def release(self):
        for block in self.order:
            if self.now() - self.used[block] >= self.ttl:
                self.order.remove(block)
                return block
        return None
