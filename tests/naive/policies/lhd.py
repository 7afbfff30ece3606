"""LHD on dictionaries: counts by (class, age), densities from their definition."""

from collections import Counter
from fractions import Fraction

from tests.naive.pool import Sampler


class Twin(Sampler):
    def __init__(self, capacity, params, seed):
        super().__init__(capacity, params, seed)
        self.last_age = params.n_ages - 1
        self.hits, self.evictions, self.density = Counter(), Counter(), None
        self.shift, self.updates, self.reconfigurations, self.sizes = 10, 0, 0, []
        self.touched, self.hit_age, self.kind, self.cost = {}, {}, {}, {}
        self.recent, self.admitted = [None] * params.admissions, 0
        self.explorers, self.budget, self.recent_score = set(), int(capacity * 0.01), 0.0

    def age(self, block, now):
        return min((now - self.touched[block]) >> self.shift, self.last_age)

    def density_of(self, block, age):
        if self.density is None:
            return (self.kind[block] + 17) / (age + 1)
        return self.density[self.kind[block]][age]

    def score(self, block, now):
        age = self.age(block, now)
        return -1.0 if age == self.last_age else self.density_of(block, age) + (block in self.explorers)

    def explore(self, block):
        if block in self.explorers:
            self.explorers.remove(block)
            self.budget += 1
        if self.reconfigurations < 50 and self.budget > 0 and self.rng.below(32) == 0:
            self.explorers.add(block)
            self.budget -= 1

    def hit(self, block, position, now):
        age = self.age(block, self.cache.stamp)
        self.hits[self.kind[block], age] += 1.0
        both = age + self.hit_age[block]
        doublings = next((d for d in range(16) if both * 2**d >= self.params.n_ages), 15)
        self.kind[block], self.hit_age[block] = doublings, age
        self.touched[block], self.cost[block] = self.cache.stamp, self.cache.policy_cost(position)
        self.explore(block)
        self.end_update()

    def insert(self, block, position, now):
        self.members.append(block)
        self.kind[block], self.hit_age[block] = 0, 0
        self.touched[block], self.cost[block] = self.cache.stamp, self.cache.policy_cost(position)
        self.explore(block)
        if self.score(block, self.cache.stamp) < self.recent_score:
            self.recent[self.admitted % len(self.recent)] = block
            self.admitted += 1
        self.end_update()

    def evict(self, now):
        full = self.params.associativity
        candidates = [self.draw() for _ in range(full if self.reconfigurations >= 50 else min(8, full))]
        candidates += [b for b in self.recent if b in self.members and not self.cache.pinned(b)]
        victim = min(candidates, key=lambda block: self.score(block, now))
        self.recent_score = 0.9 * self.recent_score + (1 - 0.9) * max(0.0, self.score(victim, now))
        self.evictions[self.kind[victim], self.age(victim, now)] += 1.0
        if victim in self.explorers:
            self.explorers.remove(victim)
            self.budget += 1
        return self.leave(victim)

    def end_update(self):
        self.updates += 1
        if self.updates % self.params.interval == 0:
            self.reconfigure()
            self.reconfigurations += 1

    def reconfigure(self):
        self.sizes.append(len(self.members))
        self.hits = Counter({key: count * 0.9 for key, count in self.hits.items()})
        self.evictions = Counter({key: count * 0.9 for key, count in self.evictions.items()})
        if self.reconfigurations in (5, 25):
            weights = [Fraction(9, 10) ** k for k in range(len(self.sizes))]
            mean = sum(w * n for w, n in zip(weights, reversed(self.sizes), strict=True)) / sum(weights)
            before, self.shift = self.shift, 1
            while 2**self.shift < mean / (Fraction(1, 100) * self.params.n_ages):
                self.shift += 1
            self.hits = self.rescaled(self.hits, self.shift - before)
            self.evictions = self.rescaled(self.evictions, self.shift - before)
        self.density = [self.densities(kind) for kind in range(16)]

    def rescaled(self, counts, wider):
        """Put 2**wider ages together, or spread each over 2**-wider ages; what is past the last age stays there."""
        new = Counter()
        for (kind, age), count in sorted(counts.items()):
            if age == self.last_age:
                new[kind, age] += count
            elif wider > 0:
                new[kind, age >> wider] += count
            else:
                for part in range(2**-wider):
                    if age * 2**-wider + part < self.last_age:
                        new[kind, age * 2**-wider + part] += count / 2**-wider
        return new

    def densities(self, kind):
        found, hits, events, lifetime = [], 0.0, 0.0, 0.0
        for age in range(self.last_age, -1, -1):
            hits += self.hits[kind, age]
            events += self.hits[kind, age] + self.evictions[kind, age]
            lifetime += events
            found.append(hits / lifetime if events > 1e-5 else 0.0)
        return found[::-1]
