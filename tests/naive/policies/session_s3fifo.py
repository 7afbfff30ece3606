"""S3-FIFO over sessions, on three lists, oldest first, and a dict of turns."""

from tests.naive.sessions import Sessions


class Twin(Sessions):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.small, self.main, self.ghosts, self.turns = [], [], [], {}

    def serve(self, session, request, new):
        if not new:
            self.turns[session] = min(3, self.turns[session] + 1)
        elif session in self.ghosts:
            self.ghosts.remove(session)
            self.main.append(session)
            self.turns[session] = 1
        else:
            self.small.append(session)
            self.turns[session] = 1

    def choose(self):
        while True:
            if self.small and (not self.main or len(self.small) > 0.1 * (len(self.small) + len(self.main))):
                session = self.small.pop(0)
                if self.turns[session] > 1:
                    self.main.append(session)
                    continue
                self.ghosts.append(session)
                while len(self.ghosts) > len(self.small) + len(self.main) + 1:
                    self.ghosts.pop(0)
                return session
            session = self.main.pop(0)
            if self.turns[session] == 0:
                return session
            self.turns[session] -= 1
            self.main.append(session)
