"""ARC over sessions, on four lists, oldest first."""

from tests.naive.sessions import Sessions


class Twin(Sessions):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.t1, self.t2, self.b1, self.b2, self.p = [], [], [], [], 0.0

    def serve(self, session, request, new):
        c = len(self.t1) + len(self.t2) + 1
        if session in self.b1:
            self.p = min(c, self.p + max(1, len(self.b2) / len(self.b1)))
            self.b1.remove(session)
            self.t2.append(session)
        elif session in self.b2:
            self.p = max(0, self.p - max(1, len(self.b1) / len(self.b2)))
            self.b2.remove(session)
            self.t2.append(session)
        elif new:
            self.t1.append(session)
        else:
            (self.t1 if session in self.t1 else self.t2).remove(session)
            self.t2.append(session)

    def choose(self):
        from_t1 = self.t1 and (not self.t2 or len(self.t1) > self.p)
        victim = (self.t1 if from_t1 else self.t2).pop(0)
        (self.b1 if from_t1 else self.b2).append(victim)
        while len(self.b1) + len(self.b2) > len(self.t1) + len(self.t2) + 1:
            (self.b1 or self.b2).pop(0)
        return victim
