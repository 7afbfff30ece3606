"""S3-FIFO with a moving border on five lists, newest first, and a dict of counts."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.capacity, self.threshold, self.recent = capacity, params.threshold, int(capacity * params.recent)
        self.small, self.main, self.ghosts, self.small_evicted, self.main_evicted = [], [], [], [], []
        self.small_limit = max(1, int(capacity * params.small))
        self.main_limit = self.ghost_limit = capacity - self.small_limit
        self.small_returns = self.main_returns = 0
        self.count = {}

    def adapt(self):
        if not self.main_evicted:
            self.small_returns = self.main_returns = 0
        if self.small_returns + self.main_returns > 100:
            step = max(1, min(self.small_limit, self.main_limit) // 1000)
            if self.small_returns > 2 * self.main_returns and self.main_limit > self.capacity / 100:
                self.small_limit += step
                self.ghost_limit += step
                self.main_limit -= step
            elif self.main_returns > 2 * self.small_returns and self.small_limit > self.capacity / 100:
                self.small_limit -= step
                self.ghost_limit -= step
                self.main_limit += step
            self.small_returns = int(self.small_returns * 0.8)
            self.main_returns = int(self.main_returns * 0.8)

    def hit(self, block, position, now):
        self.adapt()
        self.count[block] += 1

    def insert(self, block, position, now):
        self.adapt()
        if block in self.small_evicted:
            self.small_evicted.remove(block)
            self.small_returns += 1
        if block in self.main_evicted:
            self.main_evicted.remove(block)
            self.main_returns += 1
        self.count[block] = 0
        if block in self.ghosts:
            self.ghosts.remove(block)
            self.main.insert(0, block)
        else:
            self.small.insert(0, block)

    def oldest(self, blocks):
        return next((b for b in reversed(blocks) if not self.cache.pinned(b)), None)

    def remember(self, block):
        while self.ghosts and len(self.ghosts) >= self.ghost_limit:
            oldest = self.oldest(self.ghosts)
            self.ghosts.remove(self.ghosts[-1] if oldest is None else oldest)
        if self.ghost_limit > 0:
            self.ghosts.insert(0, block)

    def note(self, evicted, block):
        if self.recent > 0:
            while len(evicted) >= self.recent:
                evicted.pop()
            evicted.insert(0, block)

    def evict(self, now):
        """Main while it is over its limit, else small; a queue without unpinned blocks leaves it to the other."""
        while True:
            if len(self.main) > self.main_limit or self.oldest(self.small) is None:
                victim = self.evict_main()
                if victim is not None:
                    return victim
            block = self.oldest(self.small)
            self.small.remove(block)
            if self.count[block] < self.threshold:
                self.remember(block)
                self.note(self.small_evicted, block)
                return block
            self.main.insert(0, block)
            self.count[block] = 0

    def evict_main(self):
        while (block := self.oldest(self.main)) is not None:
            self.main.remove(block)
            if self.count[block] == 0:
                self.note(self.main_evicted, block)
                return block
            self.count[block] = min(self.count[block], 3) - 1
            self.main.insert(0, block)
        return None
