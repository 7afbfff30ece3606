"""A counting Bloom filter on a list of counts, each hash computed apart."""

from __future__ import annotations

import math

from tests.naive.rng import WORD, Twin


class NaiveSketch:
    def __init__(self, entries: int) -> None:
        bits = -math.log(0.001) / math.log(2) ** 2
        self.hashes = math.ceil(math.log(2) * bits)
        self.counts = [0] * math.ceil(bits * max(1, entries))
        self.steps = 0

    def places(self, block: int) -> list[int]:
        high, low = divmod(Twin(block * 0x9E3779B97F4A7C15 % WORD).next_u64(), 2**32)
        return [(low + i * high) % len(self.counts) for i in range(self.hashes)]

    def add(self, block: int) -> None:
        for place in self.places(block):
            self.counts[place] += 1

    def estimate(self, block: int) -> int:
        return min(self.counts[place] for place in self.places(block))

    def age(self, period: int) -> None:
        self.steps += 1
        if self.steps % period == 0:
            self.counts = [count // 2 for count in self.counts]
