"""CAR on four lists, newest first, and a set of blocks with the bit."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.capacity, self.most, self.p = capacity, params.known * capacity, 0
        self.t1, self.t2, self.b1, self.b2, self.used = [], [], [], [], set()

    def hit(self, block, position, now):
        self.used.add(block)

    def insert(self, block, position, now):
        self.used.discard(block)
        if block in self.b1:
            self.p = min(self.p + max(1, len(self.b2) // len(self.b1)), self.capacity)
            self.b1.remove(block)
            self.t2.insert(0, block)
        elif block in self.b2:
            self.p = max(self.p - max(1, len(self.b1) // len(self.b2)), 0)
            self.b2.remove(block)
            self.t2.insert(0, block)
        else:
            self.t1.insert(0, block)

    def forget_oldest(self, ghosts):
        free = [block for block in ghosts if not self.cache.pinned(block)]
        ghosts.remove((free or ghosts)[-1])

    def evict(self, now):
        while True:
            queues = [self.t1, self.t2] if len(self.t1) >= max(1, self.p) or not self.t2 else [self.t2, self.t1]
            unpinned = [[block for block in queue if not self.cache.pinned(block)] for queue in queues]
            queue, block = (queues[0], unpinned[0][-1]) if unpinned[0] else (queues[1], unpinned[1][-1])
            queue.remove(block)
            if block not in self.used:
                break
            self.used.discard(block)
            self.t2.insert(0, block)
        (self.b1 if queue is self.t1 else self.b2).insert(0, block)
        if len(self.t1) + len(self.b1) >= self.capacity:
            if self.b1:
                self.forget_oldest(self.b1)
        elif len(self.t1) + len(self.t2) + len(self.b1) + len(self.b2) >= self.most and self.b2:
            self.forget_oldest(self.b2)
        return block
