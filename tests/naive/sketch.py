"""A counting Bloom filter on a dict of counts, each hash computed apart."""

from __future__ import annotations

import math
from collections import Counter

from tests.naive.rng import WORD, Twin


class NaiveSketch:
    def __init__(self, entries: int) -> None:
        bits = -math.log(0.001) / math.log(2) ** 2
        self.hashes = math.ceil(math.log(2) * bits)
        self.rows = max(1, math.ceil(bits * entries / 16))
        self.counts: Counter[tuple[int, int]] = Counter()
        self.steps = 0

    def places(self, block: int) -> list[tuple[int, int]]:
        group, column = divmod(block, 16)
        high, low = divmod(Twin(group * 0x9E3779B97F4A7C15 % WORD).next_u64(), 2**32)
        a, b = (self.rows * word // 2**32 for word in (low, high))
        return [((a + i * b) % self.rows, column) for i in range(self.hashes)]

    def add(self, block: int) -> None:
        self.counts.update(self.places(block))

    def estimate(self, block: int) -> int:
        return min(self.counts[place] for place in self.places(block))

    def age(self, period: int) -> None:
        self.steps += 1
        if self.steps % period == 0:
            self.counts = Counter({place: count // 2 for place, count in self.counts.items()})
