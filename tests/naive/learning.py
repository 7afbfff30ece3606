"""What learned policies have in common: blocks remembered, examples of them, and LightGBM's own booster and answers."""

from __future__ import annotations

from math import log1p

import numpy as np

from hitcurve.policies.learning import trained
from tests.naive.pool import Sampler


class Fact:
    """A remembered block."""

    def __init__(self, decayed):
        self.uses, self.touched, self.sampled = 0, None, None
        self.deltas, self.decayed = [], [np.float32(0)] * decayed

    def faded(self, time):
        """Counter i halves every 2**(10 + i) accesses."""
        return [float(c) * 2.0 ** (-time / 2 ** (10 + i)) for i, c in enumerate(self.decayed)]


class Learner(Sampler):
    def __init__(self, capacity, params, seed, limit, deltas, decayed):
        super().__init__(capacity, params, seed)
        self.seed, self.limit, self.n_deltas, self.n_decayed = seed, limit, deltas, decayed
        self.known, self.slots = {}, []  # facts by block; the blocks in order of their slots
        self.lru, self.evicted = [], []  # the newest last
        self.rows, self.labels, self.booster, self.models = [], [], None, 0
        self.full, self.early = False, limit  # whether there was an eviction; how many before labels count
        self.horizon = self.longest = 0  # latest last use, and longest age, of blocks forgotten

    # requests

    def arrive(self, request):
        self.learn_if_due()
        now, stamp, every = self.cache.clock, self.cache.stamp, self.params.every
        if self.full:
            for _ in range(stamp // every - now // every):
                fact = self.known[self.slots[self.rng.below(len(self.slots))]]
                fact.sampled = now if fact.sampled is None else fact.sampled

    def learn_if_due(self):
        if len(self.rows) < self.params.examples:
            return
        self.models += 1
        rows = np.array(self.rows, np.float32)
        self.booster = trained(rows, np.array(self.labels, np.float32), self.params, self.seed)
        self.rows, self.labels = [], []

    def category(self):
        """Type and turn as one number: types as they appear, no type first; within a type by turn."""
        kinds = [kind for kind, _ in map(self.pair, self.cache.context.category)]
        order = {kind: i for i, kind in enumerate(dict.fromkeys(k for k in kinds if k is not None))}
        pairs = [(order.get(k, -1), turn) for k, turn in map(self.pair, self.cache.context.category)]
        return sorted(set(pairs)).index(pairs[self.cache.request])

    @staticmethod
    def pair(category):
        return (None, 0) if category is None else category

    # blocks

    def hit(self, block, position, now):
        self.lru.remove(block)
        self.lru.append(block)
        self.touch(block, position)

    def enter(self, block):
        if block in self.evicted:
            self.evicted.remove(block)
        self.lru.append(block)

    def touch(self, block, position):
        now = self.cache.stamp
        if block not in self.known:
            self.known[block] = Fact(self.n_decayed)
            self.slots.append(block)
        fact = self.known[block]
        self.label(fact, None if fact.sampled is None else now - fact.sampled)
        if fact.touched == now:
            return
        if fact.touched is not None:
            delta = now - fact.touched
            fact.deltas = [delta, *fact.deltas][: self.n_deltas]
            fact.decayed = [np.float32(c) for c in fact.faded(delta)]
        fact.decayed = [np.float32(float(c) + 1) for c in fact.decayed]
        fact.uses, fact.touched = fact.uses + 1, now
        fact.position, fact.category = position, self.category()

    def row(self, fact, now):
        age = now - fact.touched
        deltas = fact.deltas + [-1] * (self.n_deltas - len(fact.deltas))
        return [age, fact.uses, fact.position, fact.category, *deltas, *fact.faded(age)]

    def wanted(self):
        """Whether a label that has come is kept: one in ``kept``, where that is a parameter and there is a model."""
        kept = getattr(self.params, "kept", 1)
        return kept == 1 or self.booster is None or self.rng.below(kept) == 0

    def label(self, fact, time):
        if fact.sampled is None:
            return
        if self.wanted() and self.early <= 0 and len(self.rows) < self.params.examples:
            self.rows.append(self.row(fact, fact.sampled))
            self.labels.append(log1p(time))
        fact.sampled = None

    def predicted(self, blocks):
        """By block."""
        rows = np.array([self.row(self.known[block], self.cache.clock) for block in blocks], np.float32)
        return dict(zip(blocks, self.booster.predict(rows, num_threads=1).tolist(), strict=True))

    def oldest(self, blocks):
        return next((b for b in blocks if not self.cache.pinned(b)), None)

    def goes(self, victim):
        """The victim is remembered among the evicted; with too many of them, the oldest is forgotten."""
        self.full, self.early = True, max(0, self.early - 1)
        self.leave(victim)
        self.lru.remove(victim)
        self.evicted.append(victim)
        if len(self.evicted) > self.limit:
            block = self.oldest(self.evicted)
            self.forget(self.evicted[0] if block is None else block)
        return victim

    def forget(self, block):
        fact = self.known.pop(block)
        age = self.cache.clock - fact.touched
        self.horizon, self.longest = max(self.horizon, fact.touched), max(self.longest, age)
        self.label(fact, self.longest + age)
        self.evicted.remove(block)
        self.slots[self.slots.index(block)] = self.slots[-1]
        self.slots.pop()
