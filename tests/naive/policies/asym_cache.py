"""Expected cost of recomputing, on two sorted lists of entries that are looked at when they come up."""

from math import exp, log

from tests.naive.simulation import NaivePolicy

P = 0.5
MOST_GAPS = 200_000


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.by_blocks = bool(params.block_clock)
        self.gaps, self.last, self.cost = [], {}, {}
        self.residents = []  # in the order of insertion, until the first eviction
        self.entries = None  # of each branch: [key, number, block, last touch when it was made]
        self.made = 0

    def arrive(self, request):
        times = self.cache.context.arrival_ns
        self.counts = self.by_blocks or times[0] == times[-1]
        self.now = self.cache.clock if self.counts else times[request] - times[0]

    def path(self, request):
        for position, block in enumerate(self.cache.requests[request]):
            now = self.now + position if self.counts else self.now
            gap = now - self.last.get(block, now)
            if self.entries is None and gap > 0 and len(self.gaps) < MOST_GAPS:
                self.gaps.append(gap)
            self.last[block] = now

    def begin_allocation(self):
        if self.entries is not None:
            return
        unit = 1 if self.counts else 10**9
        self.r, life = (10, 200_000 * unit) if self.counts else (40, 180 * unit)
        if self.gaps:
            life = max(unit, sorted(self.gaps)[min(len(self.gaps) - 1, int(0.99 * len(self.gaps)))])
        self.life = life
        self.alpha = -life / log(P)
        self.beta = self.alpha / self.r
        self.tau0 = life * (1 - 1 / self.r)
        self.entries = [[], []]
        for block in self.residents:
            self.file(block)

    def branch(self, block):
        return 0 if self.now - self.last[block] < self.life else 1

    def file(self, block):
        """Enter the block in the branch it belongs to now."""
        weight, last = log(max(1, self.cost[block])), self.last[block]
        branch = self.branch(block)
        key = weight + last / self.alpha if branch == 0 else weight + (last + self.tau0) / self.beta
        self.made += 1
        self.entries[branch].append([key, self.made, block, last])

    def expected(self, block):
        tau = max(0, self.now - self.last[block])
        falls = exp(-tau / self.alpha) if self.branch(block) == 0 else exp(-(tau - self.tau0) / self.beta)
        return falls * self.cost[block]

    def top(self, branch):
        """The least entry of a branch that is neither stale, nor pinned, nor of the other branch."""
        entries = self.entries[branch]
        while entries:
            entry = min(entries)
            _, _, block, last = entry
            if self.cache.pinned(block):
                entries.remove(entry)
            elif last != self.last[block] or self.branch(block) != branch:
                entries.remove(entry)
                self.file(block)
            else:
                return entry
        return None

    def evict(self, now):
        one = self.top(0)
        other = self.top(1)
        one = self.top(0)  # branch 2 may have filed new ones
        branch = 0 if other is None or (one and self.expected(one[2]) <= self.expected(other[2])) else 1
        entry = (one, other)[branch]
        self.entries[branch].remove(entry)
        block = entry[2]
        del self.last[block], self.cost[block]
        return block

    def insert(self, block, position, now):
        self.cost[block] = self.cache.policy_cost(position)
        if self.entries is None:
            self.residents.append(block)
        else:
            self.file(block)

    def hit(self, block, position, now):
        if self.entries is not None and all(block != entry[2] for entries in self.entries for entry in entries):
            self.file(block)
