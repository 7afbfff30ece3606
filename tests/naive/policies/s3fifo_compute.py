"""S3-FIFO whose gates weigh hits by cost: S3-FIFO's twin with other gates."""

from fractions import Fraction

from tests.naive.policies.s3fifo import Twin as S3Fifo


class Twin(S3Fifo):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.cost = {}

    def insert(self, block, position, now):
        super().insert(block, position, now)
        self.cost[block] = self.cache.policy_cost(position)

    def passes(self, block, hits):
        resident = self.cache.resident
        mean = Fraction(sum(self.cost[b] for b in resident), len(resident))
        return self.count[block] * self.cost[block] >= hits * mean

    def evict_small(self):
        while (block := self.oldest(self.small)) is not None:
            self.small.remove(block)
            if not self.passes(block, self.threshold):
                self.remember(block)
                return block
            self.main.insert(0, block)
            self.count[block] = 0
        return None

    def evict_main(self):
        while (block := self.oldest(self.main)) is not None:
            self.main.remove(block)
            if self.count[block] == 0 or not self.passes(block, 1):
                return block
            self.count[block] = min(self.count[block], 3) - 1
            self.main.insert(0, block)
        return None
