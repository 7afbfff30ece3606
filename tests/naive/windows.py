"""Windows of requests, slow and obvious: how much cache their hits need, and how long blocks lay untouched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

TARGETS = (6000, 8000, 9000, 9500, 9900, 9950)


def thresholds(facts: Sequence[Sequence[Sequence[int]]]) -> list[int]:
    """The smallest capacity at which each block of each request is a hit."""
    return sorted(start + k for fact in facts for start, length in fact for k in range(length))


def required(facts: Sequence[Sequence[Sequence[int]]]) -> dict[int, int]:
    """For each target, the smallest capacity whose hits are that share of all."""
    found = thresholds(facts)
    answers = {}
    for target in TARGETS:
        hits = lambda capacity: sum(threshold <= capacity for threshold in found)  # noqa: E731
        candidates = [0, *found]
        answers[target] = next(c for c in candidates if 10_000 * hits(c) >= target * len(found))
    return answers


class Intervals:
    """Samples of the distinct blocks of each request that were touched before, and are alive."""

    def __init__(self, ttl: int | None = None) -> None:
        self.ttl, self.now = ttl, -(2**63)
        self.touched: dict[Any, int] = {}
        self.window: list[int] = []

    def process(self, blocks: Sequence[Any], now: int) -> None:
        self.now = max(self.now, now)
        for block in dict.fromkeys(blocks):
            if block in self.touched and (self.ttl is None or self.now - self.touched[block] < self.ttl):
                self.window.append(self.now - self.touched[block])
        self.touched |= dict.fromkeys(blocks, self.now)

    def take(self) -> list[int]:
        taken, self.window = self.window, []
        return taken


def nearest_rank(samples: Sequence[int], percent: int) -> int:
    """The smallest sample that at least so many percent of all do not exceed."""
    return min(s for s in samples if 100 * sum(other <= s for other in samples) >= percent * len(samples))
