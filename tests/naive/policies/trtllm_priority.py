"""The leaf of the lowest priority, then the least recent; every block is asked whether its priority has lapsed."""

from fractions import Fraction

from tests.naive.leaves import Leafwise


class Twin(Leafwise):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.used = {}  # when a block was used last, as long as its priority may lapse
        self.turn = 0

    def now(self):
        return Fraction(self.cache.context.arrival_ns[self.cache.request], 10**9)

    def arrive(self, request):
        for block in list(self.used):
            if self.params.seconds and self.now() - self.used[block] >= Fraction(self.params.seconds):
                del self.used[block]
                self.turn += 1
                self.rank[block] = (35, self.turn)

    def ranked(self, block, position, now):
        front = position < self.params.front
        priority = self.params.front_priority if front else self.params.rest_priority
        self.used.pop(block, None)
        if priority != 35:
            self.used[block] = self.now()
        self.turn += 1
        return priority, self.turn

    def forget(self, block):
        super().forget(block)
        self.used.pop(block, None)
