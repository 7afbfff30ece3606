"""LRU caches of prefix blocks, slow and obvious: lists and dicts, one cache for each capacity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class NaiveLru:
    """One cache of ``capacity`` blocks (None: infinite); a block lives while its age is less than ``ttl`` (None: ever).

    ``tail_first``: the order in which a request is committed; the other order is only there to show what it costs.
    """

    def __init__(self, capacity: int | None, ttl: int | None = None, tail_first: bool = True) -> None:
        self.capacity, self.ttl, self.tail_first = capacity, ttl, tail_first
        self.order: list[Any] = []  # resident blocks, the most recently touched last
        self.touched: dict[Any, int] = {}

    def request(self, blocks: Sequence[Any], now: int = 0) -> int:
        """Leading blocks of the request that are resident and alive on arrival; then all of it is touched."""
        hits = 0
        for block in blocks:
            if block not in self.order or (self.ttl is not None and now - self.touched[block] >= self.ttl):
                break
            hits += 1
        for block in reversed(blocks) if self.tail_first else blocks:
            if block in self.order:
                self.order.remove(block)
            self.order.append(block)
            self.touched[block] = now
            if self.capacity is not None and len(self.order) > self.capacity:
                self.order.pop(0)
        return hits


def naive_hits(
    requests: Sequence[Sequence[Any]],
    times: Sequence[int] | None = None,
    capacity: int | None = None,
    ttl: int | None = None,
    tail_first: bool = True,
) -> list[int]:
    """Hits of each request in one cache."""
    cache = NaiveLru(capacity, ttl, tail_first)
    return [cache.request(blocks, now) for blocks, now in zip(requests, times or [0] * len(requests), strict=True)]


def paths(requests: Sequence[Sequence[Any]]) -> list[list[tuple[Any, ...]]]:
    """Requests of raw ids as requests of blocks that are whole paths."""
    return [[tuple(request[: i + 1]) for i in range(len(request))] for request in requests]


def naive_segments(requests: Sequence[Sequence[Any]], times: Sequence[int]) -> list[list[tuple[int, int, int]]]:
    """(start, length, age) of each request by the encoding of the reference, from a recency list."""
    order: list[Any] = []  # the most recently touched first
    touched: dict[Any, int] = {}
    found = []
    for blocks, now in zip(requests, times, strict=True):
        thresholds: list[tuple[int, int]] = []
        highest = 0
        for block in blocks:
            if block not in touched:
                break
            highest = max(highest, order.index(block) + 1)
            encoded = max(highest, thresholds[-1][0] + 1) if thresholds else highest
            thresholds.append((encoded, now - touched[block]))
        segments: list[tuple[int, int, int]] = []
        for threshold, age in thresholds:
            if segments and segments[-1][2] == age and sum(segments[-1][:2]) == threshold:
                start, length, _ = segments.pop()
                segments.append((start, length + 1, age))
            else:
                segments.append((threshold, 1, age))
        found.append(segments)
        for block in reversed(blocks):
            if block in touched:
                order.remove(block)
            order.insert(0, block)
            touched[block] = now
    return found


def forms_a_tree(requests: Sequence[Sequence[Any]]) -> bool:
    """Whether each id has one id before it, always the same, as the contract says."""
    before: dict[Any, Any] = {}
    for request in requests:
        for parent, key in zip([None, *request], request, strict=False):
            if before.setdefault(key, parent) != parent:
                return False
    return True
