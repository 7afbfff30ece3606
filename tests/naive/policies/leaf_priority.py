"""The leaf of the lowest priority, then the least recent; a request's priority is how far its session has come."""

from tests.naive.leaves import Leafwise


class Twin(Leafwise):
    def ranked(self, block, position, now):
        r, sessions = self.cache.request, self.cache.context.session
        own = sessions[r]
        before = 0 if own is None else sum(session == own for session in sessions[:r])
        highest = max(min(before, self.params.most), self.rank.get(block, (0,))[0])
        return highest, r
