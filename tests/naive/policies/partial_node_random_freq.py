"""Hits + 1 times cost per age."""

from tests.naive.partial_node import PartialNode


class Twin(PartialNode):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.hits = {}

    def hit(self, block, position, now):
        super().hit(block, position, now)
        self.hits[block] += 1

    def insert(self, block, position, now):
        super().insert(block, position, now)
        self.hits[block] = 0

    def score(self, block, now):
        cost = self.cache.policy_cost(self.tree.cost_position(block))
        return (self.hits[block] + 1) * cost / max(1, now - self.touched[block])
