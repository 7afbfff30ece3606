"""The session with the lowest cost per request since its last, among many draws from a list."""

from tests.naive.rng import Twin as Rng
from tests.naive.sessions import Sessions


class Twin(Sessions):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.n_samples, self.rng = params.n_samples, Rng(seed)
        self.members, self.cost, self.served = [], {}, {}

    def serve(self, session, request, new):
        if new:
            self.members.append(session)
        self.cost[session] = sum(self.cache.cost(p) for p in range(len(self.cache.requests[request])))
        self.served[session] = self.tick

    def choose(self):
        drawn = [self.members[self.rng.below(len(self.members))] for _ in range(self.n_samples)]
        victim = min(drawn, key=lambda s: self.cost[s] / max(1, self.tick - self.served[s]))
        self.members[self.members.index(victim)] = self.members[-1]
        self.members.pop()
        return victim
