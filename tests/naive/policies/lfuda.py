"""LFUDA on a dict of lists: the blocks of each rank, longest there first."""

from tests.naive.simulation import NaivePolicy


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.ranks, self.age = {}, 0.0

    def place(self, block, rank):
        self.ranks.setdefault(rank, []).append(block)

    def take(self, block):
        """Take a block out; where that empties the rank that is the age, the age goes to the next one in use."""
        rank = next(r for r, blocks in self.ranks.items() if block in blocks)
        self.ranks[rank].remove(block)
        if not self.ranks[rank]:
            del self.ranks[rank]
            if rank == self.age:
                self.age = min((r for r in self.ranks if r > rank), default=rank)
        return rank

    def begin_allocation(self):
        if self.age > 2.0**512:
            self.age /= 2.0**256
            self.ranks = {rank / 2.0**256: blocks for rank, blocks in self.ranks.items()}

    def hit(self, block, position, now):
        age = self.age
        self.place(block, self.take(block) + age)

    def insert(self, block, position, now):
        self.place(block, self.age + 1)

    def evict(self, now):
        order = sorted(r for r in self.ranks if r >= self.age) + sorted(r for r in self.ranks if r < self.age)
        victim, rank = next((b, r) for r in order for b in self.ranks[r] if not self.cache.pinned(b))
        self.age = max(self.age, rank)
        self.take(victim)
        return victim
