"""Every object with the end of its lease; batches are taken from all of them, sorted anew each time."""

import math
from fractions import Fraction

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.params = params
        self.lease = {}  # object: (when its lease ends, number of its last read or write)
        self.clock = 0
        self.batch = 0

    def now(self):
        return self.cache.context.arrival_ns[self.cache.request]

    def arrive(self, request):
        used, mark = len(self.lease), self.params.watermark * self.cache.capacity
        self.batch = math.ceil(used - mark + self.params.ratio * used) if used > mark else 0

    def begin_allocation(self):
        self.batch = math.ceil(self.params.ratio * len(self.lease))

    def first(self):
        free = [block for block in self.lease if not self.cache.pinned(block)]
        return min(free, key=self.lease.__getitem__, default=None)

    def evict(self, now):
        victim = self.first()
        del self.lease[victim]
        self.batch -= 1
        return victim

    def release(self):
        victim = self.first()
        if self.batch <= 0 or victim is None or self.lease[victim][0] > self.now():
            self.batch = 0
            return None
        return self.evict(None)

    def path(self, request):
        self.batch = 0
        for block in self.cache.requests[request]:
            self.clock += 1
            read = block in self.lease
            length = round(Fraction(self.params.lease) * 10**9) if read else 0
            self.lease[block] = (self.now() + length, self.clock)

    def hit(self, block, position, now):
        pass

    def insert(self, block, position, now):
        pass
