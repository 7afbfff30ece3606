"""Statistics of a trace, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def holders(requests: Sequence[Sequence[Any]], groups: Sequence[Any]) -> dict[Any, set[Any]]:
    """The groups (None: no group) that hold each block."""
    found: dict[Any, set[Any]] = {}
    for request, group in zip(requests, groups, strict=True):
        for block in request:
            found.setdefault(block, set()).update(() if group is None else (group,))
    return found


def lives(requests: Sequence[Sequence[Any]], times: Sequence[int]) -> list[int]:
    """Time from the first to the last request of each block, in order of first appearance."""
    first: dict[Any, int] = {}
    last: dict[Any, int] = {}
    for request, time in zip(requests, times, strict=True):
        for block in request:
            first.setdefault(block, time)
            last[block] = time
    return [last[block] - first[block] for block in first]


def intervals(requests: Sequence[Sequence[Any]], times: Sequence[int]) -> list[int]:
    """Time since its last touch, of every block of a request that an earlier request touched."""
    touched: dict[Any, int] = {}
    found = []
    for request, time in zip(requests, times, strict=True):
        found += [time - touched[block] for block in dict.fromkeys(request) if block in touched]
        touched |= dict.fromkeys(request, time)
    return found


def spread(values: Sequence[int]) -> dict[str, Any]:
    """Mean, ends, and percentiles by nearest rank."""
    ordered = sorted(values)
    n = len(ordered)
    row: dict[str, Any] = {"count": n, "mean": Fraction(sum(ordered), n), "least": ordered[0], "most": ordered[-1]}
    for p in (50, 90, 95, 99):
        rank = next(k for k in range(1, n + 1) if 100 * k >= p * n)
        row[f"p{p}"] = ordered[rank - 1]
    return row
