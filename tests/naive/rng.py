"""splitmix64 in plain integers, from the paper's listing."""

from __future__ import annotations

from fractions import Fraction

WORD = 2**64


def murmur_finalizer(h: int, key: int = 0) -> int:
    """MurmurHash3's fmix32, from its description; ``key`` goes in after the first multiplication."""
    h = (h ^ h >> 16) * 0x85EBCA6B % 2**32 ^ key
    h = (h ^ h >> 13) * 0xC2B2AE35 % 2**32
    return h ^ h >> 16


class Twin:
    def __init__(self, seed: int) -> None:
        self.state = seed % WORD

    def next_u64(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % WORD
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        return self.next_u64() * n // WORD

    def many_below(self, n: int, count: int) -> list[int]:
        high, low = divmod(self.next_u64(), 2**32)
        return [murmur_finalizer((low + i) % 2**32, high) * n // 2**32 for i in range(count)]

    def uniform(self) -> float:
        return float(Fraction(self.next_u64() // 2**11, 2**53))
