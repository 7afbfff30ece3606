"""W-TinyLFU on three lists, newest first, and a sketch."""

from tests.naive.simulation import NaivePolicy
from tests.naive.sketch import NaiveSketch


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.window, self.probation, self.protected = [], [], []
        self.main_limit = capacity - max(1, int(capacity * params.window))
        self.protected_limit = int(self.main_limit * params.protected)
        self.probation_limit = self.main_limit - self.protected_limit
        self.sketch = NaiveSketch(self.main_limit)

    def hit(self, block, position, now):
        if block in self.window:
            self.window.remove(block)
            self.window.insert(0, block)
            return
        self.sketch.add(block)
        self.sketch.age(32 * self.main_limit)
        (self.probation if block in self.probation else self.protected).remove(block)
        self.protected.insert(0, block)
        while len(self.protected) > self.protected_limit:
            self.probation.insert(0, self.protected.pop())

    def insert(self, block, position, now):
        self.sketch.add(block)
        self.window.insert(0, block)

    def unpinned(self, blocks):
        """From the oldest."""
        return [block for block in reversed(blocks) if not self.cache.pinned(block)]

    def evict(self, now):
        while candidates := self.unpinned(self.window):
            newcomer = candidates[0]
            self.sketch.add(newcomer)
            if len(self.probation) + len(self.protected) < self.main_limit:
                self.move_to_main(newcomer)
                continue
            victims = self.main_victims()
            if victims and self.sketch.estimate(newcomer) > self.sketch.estimate(victims[0]):
                self.drop_from_main(victims[0])
                self.move_to_main(newcomer)
                return victims[0]
            self.window.remove(newcomer)
            return newcomer
        victim = self.main_victims()[0]
        self.drop_from_main(victim)
        return victim

    def main_victims(self):
        return self.unpinned(self.probation) + self.unpinned(self.protected)

    def drop_from_main(self, block):
        (self.probation if block in self.probation else self.protected).remove(block)

    def move_to_main(self, block):
        self.window.remove(block)
        (self.probation if len(self.probation) < self.probation_limit else self.protected).insert(0, block)
