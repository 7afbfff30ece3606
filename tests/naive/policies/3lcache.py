"""3L-Cache on lists: candidates are a dict searched for every victim, the queue of residents a list, oldest first."""

from math import exp

from tests.naive.learning import Learner

END = "end"  # the hand has passed the newest resident


class Twin(Learner):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed, capacity, deltas=3, decayed=0)
        self.capacity, self.window = capacity, 2
        self.candidates = {}  # block: predicted next use
        self.reason = {}
        self.new = []  # oldest first
        self.hand, self.looked, self.length = None, 0, 0
        self.quota = self.hits = self.evicted_hits = 0
        self.popular, self.oldest_share, self.new_share = 1, 1, 2
        self.asked, self.taken = [], []  # reasons of this pass's candidates; reasons and uses of its victims

    # accesses

    def step_over(self, block):
        if self.hand == block:
            i = self.lru.index(block) + 1
            self.hand = self.lru[i] if i < len(self.lru) else END

    def hit(self, block, position, now):
        self.step_over(block)
        self.candidates.pop(block, None)
        self.hits += 1
        super().hit(block, position, now)

    def insert(self, block, position, now):
        self.evicted_hits += block in self.evicted
        super().insert(block, position, now)
        if self.booster is not None:
            self.new.append(block)

    # candidates

    def ask(self, block, reason):
        self.candidates[block] = self.cache.clock + exp(self.predicted([block])[block]) - 1
        self.reason[block] = reason
        self.asked.append(reason)

    def too_many_new(self, times):
        return len(self.new) / len(self.lru) > times * self.new_share / 100

    def batch(self):
        n = min(self.params.batch, len(self.lru) // 100 + 2)
        new = found = 0
        ended = False
        while self.too_many_new(1) and new < 1.5 * n:
            block = self.new.pop(0)
            if not self.cache.pinned(block):
                self.ask(block, "new")
                new += 1
        while found < n and not self.too_many_new(10):
            if self.hand in (None, END) or self.looked >= self.length:
                if ended:
                    break
                ended, new, found = True, 0, 0
                self.tune()
                self.candidates = {}
                self.hand, self.looked, self.length = self.lru[0], 0, len(self.lru)
            block = self.hand
            self.step_over(block)
            oldest = self.looked <= self.oldest_share / 100 * self.length
            self.looked += 1
            if self.cache.pinned(block):
                continue
            if oldest:
                self.ask(block, "oldest")
                found += 1
            elif self.known[block].uses <= self.popular:
                self.ask(block, "other")
                found += 1
        self.quota = max(1, (new + found) // 2)

    def tune(self):
        if self.taken:
            classes = sorted(uses.bit_length() for _, uses in self.taken)  # 1: one use, 2: up to 3, 3: up to 7 ...
            first = next(c for c in classes if sum(other <= c for other in classes) >= 0.99 * len(classes))
            self.popular = 2**first - 1
        reasons = [reason for reason, _ in self.taken]
        count = {of: (reasons.count(of), self.asked.count(of)) for of in ("oldest", "other", "new")}
        (a, all_a), (b, all_b) = count["oldest"], count["other"]
        more = all_a * all_b > 0 and a / all_a > b / all_b
        self.oldest_share = min(100, self.oldest_share + 1) if more else max(1, self.oldest_share - 1)
        more = a + b > len(self.new)
        self.new_share = min(100, self.new_share + 1) if more else max(1, self.new_share // 2)
        if self.window < self.params.window and self.evicted_hits > (self.window - 1) * self.hits / 100:
            self.window += 1
            self.limit, self.early = self.limit + self.capacity, self.early + self.capacity
        self.asked, self.taken, self.hits, self.evicted_hits = [], [], 0, 0

    def best(self):
        for _ in range(2):
            if self.quota <= 0 or not self.candidates:
                self.batch()
            while self.candidates:
                block = max(self.candidates, key=lambda b: (self.candidates[b], self.known[b].position, -b))
                del self.candidates[block]
                if not self.cache.pinned(block):
                    self.quota -= 1
                    self.taken.append((self.reason[block], self.known[block].uses))
                    return block
        return None

    def evict(self, now):
        victim = self.best() if self.booster is not None else None
        victim = self.oldest(self.lru) if victim is None else victim
        self.step_over(victim)
        self.candidates.pop(victim, None)
        if victim in self.new:
            self.new.remove(victim)
        return self.goes(victim)
