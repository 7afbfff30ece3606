"""Random on a list."""

from tests.naive.pool import Sampler


class Twin(Sampler):
    def evict(self, now):
        return self.leave(self.draw())
