"""2Q on three lists, newest first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.once, self.again, self.ghosts = [], [], []
        self.once_limit, self.ghost_limit = int(capacity * params.once), int(capacity * params.ghost)

    def hit(self, block, position, now):
        if block in self.again:
            self.again.remove(block)
            self.again.insert(0, block)

    def insert(self, block, position, now):
        if block in self.ghosts:
            self.ghosts.remove(block)
            self.again.insert(0, block)
        else:
            self.once.insert(0, block)

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
        sources = [self.once, self.again] if len(self.once) > self.once_limit else [self.again, self.once]
        source = sources[0] if self.oldest(sources[0]) is not None else sources[1]
        victim = self.oldest(source)
        source.remove(victim)
        if source is self.once:
            self.remember(victim)
        return victim
