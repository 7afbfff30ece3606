"""The free queue as a list, its head first; blocks of a finished request join its end, the last of them first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.queue = []

    def path(self, request):
        blocks = self.cache.requests[request]
        self.queue = [block for block in self.queue if block not in blocks] + list(reversed(blocks))

    def hit(self, block, position, now):
        pass

    def insert(self, block, position, now):
        pass

    def evict(self, now):
        victim = next(block for block in self.queue if not self.cache.pinned(block))
        self.queue.remove(victim)
        return victim
