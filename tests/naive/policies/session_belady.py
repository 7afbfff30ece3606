"""The session whose next request is farthest away, looked for among all; of those that end, the one served first."""

from tests.naive.sessions import Sessions


class Twin(Sessions):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.upcoming, self.served = {}, {}

    def serve(self, session, request, new):
        self.upcoming[session], self.served[session] = self.next_request(request), self.tick

    def choose(self):
        return max(self.paths, key=lambda s: (self.upcoming[s], -self.served[s]))
