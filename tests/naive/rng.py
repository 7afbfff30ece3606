"""splitmix64 in plain integers, from the paper's listing."""

from __future__ import annotations

from fractions import Fraction

WORD = 2**64


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
        halves = [half for _ in range(-(-count // 2)) for half in divmod(self.next_u64(), 2**32)[::-1]]
        return [half * n // 2**32 for half in halves[:count]]

    def uniform(self) -> float:
        return float(Fraction(self.next_u64() // 2**11, 2**53))
