"""SLRU on a list of lists, newest first, the lowest segment first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.segments = [[] for _ in range(params.segments)]
        self.limit = capacity // params.segments

    def hit(self, block, position, now):
        at = next(i for i, segment in enumerate(self.segments) if block in segment)
        self.segments[at].remove(block)
        above = min(at + 1, len(self.segments) - 1)
        self.segments[above].insert(0, block)
        for i in range(above, 0, -1):
            while len(self.segments[i]) > self.limit:
                self.segments[i - 1].insert(0, self.segments[i].pop())

    def insert(self, block, position, now):
        room = [segment for segment in self.segments if len(segment) < self.limit]
        (room or self.segments)[0].insert(0, block)

    def evict(self, now):
        for segment in self.segments:
            for block in reversed(segment):
                if not self.cache.pinned(block):
                    segment.remove(block)
                    return block
        raise AssertionError("everything is pinned")
