"""CACHEUS on lists, newest first (SR, R, history, ghosts of each expert), and an LFU on dicts of counts and order."""

import math

from tests.naive.rng import Twin as Rng
from tests.naive.simulation import NaivePolicy

LRU, LFU = 0, 1


class Twin(NaivePolicy):
    def __init__(self, capacity, params, seed):
        self.c, self.rng = capacity, Rng(seed)
        self.sr, self.r, self.history = [], [], []
        self.sr_size = max(1, capacity // 2)
        self.demoted, self.new = set(), set()  # of SR; of SR and the history
        self.frequency, self.since, self.changes = {}, {}, 0
        self.ghosts, self.weight = ([], []), [0.5, 0.5]
        self.rate, self.rate_before = self.any_rate(), 0.0
        self.hits = self.accesses = self.hit_ratio_before = self.stagnation = 0

    def any_rate(self):
        return 0.001 + self.rng.below(1000) / 1000

    def oldest_unpinned(self, blocks):
        return next((block for block in reversed(blocks) if not self.cache.pinned(block)), None)

    # SR-LRU

    def to_r(self, block):
        self.r.insert(0, block)
        while len(self.r) > self.c - self.sr_size:
            last = self.r.pop()
            self.sr.insert(0, last)
            self.demoted.add(last)

    def hit_sr_lru(self, block):
        if block in self.r:
            self.r.remove(block)
            self.r.insert(0, block)
            return
        self.sr.remove(block)
        self.new.discard(block)
        again = block in self.demoted
        self.demoted.discard(block)
        self.to_r(block)
        if again:
            # the block counts as demoted until the sizes have changed, unless it has just been demoted anew
            n_demoted = len(self.demoted) + 1
            self.sr_size = max(1, self.sr_size - max(1, self.n_new_in_history() // n_demoted))

    def insert_sr_lru(self, block):
        if block not in self.history:
            self.sr.insert(0, block)
            self.new.add(block)
            return
        n_new = self.n_new_in_history()
        self.history.remove(block)
        self.to_r(block)
        if block in self.new:
            self.new.remove(block)
            grown = self.sr_size + max(1, len(self.demoted) // n_new)
            self.sr_size = max(1, min(grown, len(self.sr) + len(self.r) - 1))

    def n_new_in_history(self):
        return len(self.new & set(self.history))

    def leave_sr_lru(self, block):
        (self.sr if block in self.sr else self.r).remove(block)
        self.demoted.discard(block)
        if len(self.history) == self.c:
            forgotten = self.oldest_unpinned(self.history)
            forgotten = self.history[-1] if forgotten is None else forgotten
            self.history.remove(forgotten)
            self.new.discard(forgotten)
            del self.frequency[forgotten]
        self.history.insert(0, block)

    # CR-LFU

    def count(self, block):
        self.changes += 1
        self.frequency[block] = self.frequency.get(block, 0) + 1
        self.since[block] = self.changes

    # the experts together

    def after_access(self):
        self.accesses += 1
        if self.accesses % self.c:
            return
        hit_ratio = self.hits // self.c
        rate, d_ratio, d_rate = self.rate, hit_ratio - self.hit_ratio_before, self.rate - self.rate_before
        if d_rate != 0:
            self.rate += abs(rate * d_rate) * (1 if d_ratio / d_rate > 0 else -1)
            if self.rate <= 0.001:
                self.rate = 0.0001
            self.stagnation = 0
        elif hit_ratio == 0 or d_ratio <= 0:
            self.stagnation += 1
        elif self.stagnation >= 10:
            self.rate, self.stagnation = self.any_rate(), 0
        self.rate_before, self.hit_ratio_before, self.hits = rate, hit_ratio, 0

    def hit(self, block, position, now):
        self.hit_sr_lru(block)
        self.count(block)
        self.hits += 1
        self.after_access()

    def insert(self, block, position, now):
        for expert in (LRU, LFU):
            if block in self.ghosts[expert]:
                self.ghosts[expert].remove(block)
                self.weight[expert] *= math.exp(-self.rate)
                self.weight[LRU] /= sum(self.weight)
                self.weight[LFU] = 1 - self.weight[LRU]
        self.insert_sr_lru(block)
        self.count(block)
        self.after_access()

    def evict(self, now):
        resident = [block for block in self.sr + self.r if not self.cache.pinned(block)]
        by_lru = self.oldest_unpinned(self.sr)
        by_lru = self.oldest_unpinned(self.r) if by_lru is None else by_lru
        by_lfu = min(resident, key=lambda block: (self.frequency[block], -self.since[block]))
        victim = by_lru
        if by_lru != by_lfu:
            expert = LRU if self.rng.below(100) / 100 < self.weight[LRU] else LFU
            victim = (by_lru, by_lfu)[expert]
            self.remember(self.ghosts[expert], victim)
        self.leave_sr_lru(victim)
        return victim

    def remember(self, ghosts, victim):
        if self.c // 2 == 0:
            return
        if len(ghosts) == self.c // 2:
            oldest = self.oldest_unpinned(ghosts)
            ghosts.remove(ghosts[-1] if oldest is None else oldest)
        ghosts.insert(0, victim)
