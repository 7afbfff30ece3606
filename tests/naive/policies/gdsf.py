"""GDSF on dictionaries: the minimum is looked for among all residents."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.frequency, self.cost, self.priority, self.age = {}, {}, {}, 0

    def price(self, position):
        return 1

    def touch(self, block, now):
        self.frequency[block] += 1
        self.priority[block] = (self.age + self.frequency[block] * self.cost[block], now)

    def hit(self, block, position, now):
        self.touch(block, now)

    def insert(self, block, position, now):
        self.frequency[block], self.cost[block] = 0, self.price(position)
        self.touch(block, now)

    def evict(self, now):
        victim = min((b for b in self.priority if not self.cache.pinned(b)), key=self.priority.__getitem__)
        self.age, _ = self.priority.pop(victim)
        return victim
