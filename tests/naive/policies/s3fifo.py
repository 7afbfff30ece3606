"""S3-FIFO on three lists, newest first, and a dict of counts."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.small, self.main, self.ghosts, self.count = [], [], [], {}
        self.small_limit = max(1, int(capacity * params.small))
        self.main_limit = capacity - self.small_limit
        self.ghost_limit = int(capacity * params.ghost)
        self.threshold = params.threshold
        self.evicted = False

    def hit(self, block, position, now):
        self.count[block] += 1

    def insert(self, block, position, now):
        self.count[block] = 0
        if block in self.ghosts:
            self.ghosts.remove(block)
            self.main.insert(0, block)
        elif not self.evicted and len(self.small) >= self.small_limit:
            self.main.insert(0, block)
        else:
            self.small.insert(0, block)

    def oldest(self, blocks):
        return next((b for b in reversed(blocks) if not self.cache.pinned(b)), None)

    def remember(self, block):
        if self.ghost_limit == 0:
            return
        while len(self.ghosts) >= self.ghost_limit:
            oldest = self.oldest(self.ghosts)
            self.ghosts.remove(self.ghosts[-1] if oldest is None else oldest)
        self.ghosts.insert(0, block)

    def evict(self, now):
        self.evicted = True
        if len(self.main) > self.main_limit:
            victim = self.evict_main()
            return self.evict_small() if victim is None else victim
        victim = self.evict_small()
        return self.evict_main() if victim is None else victim

    def evict_small(self):
        while (block := self.oldest(self.small)) is not None:
            self.small.remove(block)
            if self.count[block] < self.threshold:
                self.remember(block)
                return block
            self.main.insert(0, block)
            self.count[block] = 0
        return None

    def evict_main(self):
        while (block := self.oldest(self.main)) is not None:
            self.main.remove(block)
            if self.count[block] == 0:
                return block
            self.count[block] = min(self.count[block], 3) - 1
            self.main.insert(0, block)
        return None
