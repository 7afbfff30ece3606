"""Chunks as tuples of blocks in a list, the oldest first; what is resident is in a chunk, or in the last request."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.size = params.chunk or 1  # the traces of the tests have no block size
        self.store = []  # chunks, the oldest first
        self.going = []
        self.last = []

    def own(self, blocks):
        whole = len(blocks) // self.size * self.size
        return [tuple(blocks[at : at + self.size]) for at in range(0, whole, self.size)]

    def stored(self):
        return {block for chunk in self.store for block in chunk}

    def arrive(self, request):
        blocks = self.cache.requests[request]
        found = {block for chunk in self.own(blocks) if chunk in self.store for block in chunk}
        left_over = set(self.last) - self.stored()
        elsewhere = set(blocks) & self.cache.resident - found
        self.going = sorted(left_over | elsewhere)
        self.last = blocks

    def release(self):
        return self.going.pop() if self.going else None

    def evict(self, now):
        while not self.going:
            chunk = next(chunk for chunk in self.store if not self.cache.pinned(chunk[-1]))
            self.store.remove(chunk)
            kept = self.stored()
            self.going = [
                block
                for block in chunk
                if block not in kept and block in self.cache.resident and not self.cache.pinned(block)
            ]
        return self.going.pop()

    def path(self, request):
        for chunk in self.own(self.cache.requests[request]):
            if chunk in self.store:
                self.store.remove(chunk)
            self.store.append(chunk)

    def hit(self, block, position, now):
        pass

    def insert(self, block, position, now):
        pass
