"""The session served longest ago, on a list."""

from tests.naive.sessions import Sessions


class Twin(Sessions):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.order = []  # oldest first

    def serve(self, session, request, new):
        if not new:
            self.order.remove(session)
        self.order.append(session)

    def choose(self):
        return self.order.pop(0)
