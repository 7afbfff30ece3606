"""LRB: the farthest prediction of many draws, after what is older than the window."""

from tests.naive.learning import Learner


class Twin(Learner):
    def __init__(self, capacity, params, seed):
        limit = int((params.window - 1) * capacity)
        super().__init__(capacity, params, seed, limit, deltas=params.n_deltas, decayed=10)

    def evict(self, now):
        victim = self.oldest(self.lru)
        if self.booster is not None and self.known[victim].touched >= self.horizon:
            draws = [self.draw() for _ in range(self.params.n_samples)]
            asked = self.predicted(list(set(draws)))
            victim = max(draws, key=lambda block: (asked[block], self.known[block].position))
        return self.goes(victim)
