"""ARC on four lists, newest first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.capacity, self.p = capacity, 0.0
        self.t1, self.t2, self.b1, self.b2 = [], [], [], []

    def hit(self, block, position, now):
        (self.t1 if block in self.t1 else self.t2).remove(block)
        self.t2.insert(0, block)

    def insert(self, block, position, now):
        if block in self.b1:
            self.p = min(self.p + max(len(self.b2) / len(self.b1), 1), self.capacity)
            self.b1.remove(block)
            self.t2.insert(0, block)
        elif block in self.b2:
            self.p = max(self.p - max(len(self.b1) / len(self.b2), 1), 0)
            self.b2.remove(block)
            self.t2.insert(0, block)
        else:
            self.t1.insert(0, block)

    def take_oldest(self, blocks):
        """The oldest that is not pinned leaves its list; None if there is none."""
        for block in reversed(blocks):
            if not self.cache.pinned(block):
                blocks.remove(block)
                return block
        return None

    def forget_oldest(self, ghosts):
        if self.take_oldest(ghosts) is None:
            ghosts.pop()

    def replace(self):
        choices = [(self.t1, self.b1), (self.t2, self.b2)]
        if not ((self.t1 and len(self.t1) > self.p) or not self.t2):
            choices.reverse()
        for blocks, ghosts in choices:
            victim = self.take_oldest(blocks)
            if victim is not None:
                ghosts.insert(0, victim)
                return victim
        raise AssertionError("everything is pinned")

    def evict(self, now):
        if len(self.t1) + len(self.b1) + 1 > self.capacity:
            if not self.b1:
                return self.take_oldest(self.t1)
            self.forget_oldest(self.b1)
        elif len(self.t1) + len(self.t2) + len(self.b1) + len(self.b2) >= 2 * self.capacity and self.b2:
            self.forget_oldest(self.b2)
        return self.replace()
