"""LIRS on three lists, newest first: stack, queue, memory; and a set of LIR blocks."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.capacity = capacity
        self.most_lir = max(1, capacity - max(1, int(capacity * params.hir)))
        self.stack, self.queue, self.memory, self.lir = [], [], [], set()

    def begin_allocation(self):
        self.asked = 0

    def prune(self):
        while len(self.stack) > 1 and self.stack[-1] not in self.lir:
            block = self.stack.pop()
            if block in self.memory:
                self.memory.remove(block)

    def demote(self):
        self.prune()
        block = self.stack.pop()
        self.lir.remove(block)
        self.queue.insert(0, block)
        self.prune()

    def make_lir_room(self):
        while len(self.lir) + 1 > self.most_lir:
            self.demote()

    def trim(self):
        while len(self.stack) > 2 * self.capacity:
            self.stack.remove(self.memory.pop())

    def to_top_as_lir(self, block):
        if block in self.stack:
            self.stack.remove(block)
        self.make_lir_room()
        self.stack.insert(0, block)
        self.lir.add(block)

    def hit(self, block, position, now):
        if block in self.lir:
            self.stack.remove(block)
            self.stack.insert(0, block)
            self.prune()
        elif block in self.stack:
            self.queue.remove(block)
            self.to_top_as_lir(block)
        else:
            self.queue.remove(block)
            self.queue.insert(0, block)
            self.make_lir_room()
            self.stack.insert(0, block)
        self.trim()

    def insert(self, block, position, now):
        if block in self.memory:
            self.memory.remove(block)
            self.to_top_as_lir(block)
        elif len(self.lir) < self.most_lir:
            self.to_top_as_lir(block)
        else:
            self.stack.insert(0, block)
            self.queue.insert(0, block)
        self.trim()

    def evict(self, now):
        self.prune()
        over = len(self.lir) + self.asked + 1 > self.most_lir
        self.asked += 1
        if self.cache.first_missing in self.memory and over and self.lir and not self.cache.pinned(self.stack[-1]):
            self.demote()
        while all(self.cache.pinned(block) for block in self.queue):
            while self.cache.pinned(self.stack[-1]):
                self.stack.insert(0, self.stack.pop())
                self.prune()
            self.demote()
        victim = next(block for block in reversed(self.queue) if not self.cache.pinned(block))
        self.queue.remove(victim)
        if victim in self.stack:
            self.memory.insert(0, victim)
        return victim
