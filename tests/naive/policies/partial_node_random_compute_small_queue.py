"""Cost per age for the main part, behind a small queue on a list, oldest first, and two lists of ghosts."""

from tests.naive.partial_node import PartialNode


class Twin(PartialNode):
    all_offered = False

    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.capacity = capacity
        self.share = float(max(1, int(capacity * params.small)))
        self.ghost_limit = int(capacity * params.ghost)
        self.small, self.main, self.small_ghosts, self.main_ghosts = [], set(), [], []
        self.hits, self.evicted, self.costs = {}, False, []

    def begin_allocation(self):
        super().begin_allocation()
        self.evicted = True

    def hit(self, block, position, now):
        self.hits[block] += 1
        self.touched[block] = self.cache.stamp

    def insert(self, block, position, now):
        cost = self.cache.policy_cost(position)
        self.hits[block], self.touched[block] = 0, self.cache.stamp
        if self.is_for_main(block, cost):
            self.main.add(block)
            self.tree.offer(block)
        else:
            self.small.append(block)
        self.costs.append(cost)

    def is_for_main(self, block, cost):
        mean = sum(self.costs) / len(self.costs) if self.costs else 0
        for ghosts, other, sign in (
            (self.small_ghosts, self.main_ghosts, 1),
            (self.main_ghosts, self.small_ghosts, -1),
        ):
            if block in ghosts:
                if self.params.adaptive_step > 0:
                    worth = min(max(cost / mean, 0.1), 10) if mean > 0 else 1
                    delta = self.params.adaptive_step * max(1, len(other) / len(ghosts)) * worth
                    self.share = max(1, min(self.share + sign * delta, self.capacity - 1))
                ghosts.remove(block)
                return True
        if not self.evicted and len(self.small) >= int(self.share):
            return True
        return self.params.small_bypass_mult > 0 and cost > self.params.small_bypass_mult * mean

    def remember(self, ghosts, block):
        if self.ghost_limit:
            if len(ghosts) == self.ghost_limit:
                ghosts.remove(next((b for b in ghosts if not self.cache.pinned(b)), ghosts[0]))
            ghosts.append(block)

    def evict_n(self, n, now):
        while n and len(self.main) <= self.capacity - int(self.share) and self.may_go():
            for block in self.from_small(now):
                n -= 1
                yield block
        while n:
            if not self.tree.members:
                for block in self.from_small(now):
                    n -= 1
                    yield block
                continue
            for block in self.batch(n, now):
                self.main.remove(block)
                if self.params.adaptive_step > 0:
                    self.remember(self.main_ghosts, block)
                n -= 1
                yield block

    def may_go(self):
        return [block for block in self.small if not self.cache.pinned(block)]

    def from_small(self, now):
        """One victim, or none after a promotion."""
        block = self.may_go()[0]
        if self.hits[block] >= self.params.threshold:
            self.small.remove(block)
            self.main.add(block)
            self.touched[block] = now
            self.tree.offer(block)
            return []
        if self.params.small_evict == "cost":
            begin = self.small.index(block)
            window = self.small[begin : begin + self.params.small_window]
            block = min(
                (b for b in window if b in self.may_go() and self.hits[b] < self.params.threshold),
                key=lambda b: self.score(b, now),
            )
        self.small.remove(block)
        self.tree.expel(block)
        self.remember(self.small_ghosts, block)
        return [block]
