"""The oldest of many draws, the first one where several are."""

from tests.naive.policies.randomtwo import Twin as RandomTwo


class Twin(RandomTwo):
    def evict(self, now):
        return self.leave(self.least(self.touched.__getitem__))
