"""What the doctor counts, counted on plain lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def distinct_ids(requests: Sequence[Sequence[Any]], scopes: Sequence[Any]) -> int:
    """Raw ids, each counted once in each scope."""
    return len({(scope, raw) for request, scope in zip(requests, scopes, strict=True) for raw in request})


def repeats(requests: Sequence[Sequence[Any]], sessions: Sequence[Any]) -> list[int]:
    """Rows with blocks that are equal to the last row of the same session."""
    last: dict[Any, Sequence[Any]] = {}
    found = []
    for row, (request, session) in enumerate(zip(requests, sessions, strict=True)):
        if session is None:
            continue
        if request and last.get(session) == request:
            found.append(row)
        last[session] = request
    return found


def smallest(
    capacities: Sequence[int], hits: Sequence[int], total: int, numerator: int, denominator: int
) -> int | None:
    """The first capacity whose hits are numerator / denominator of total or more."""
    for capacity, hit in zip(capacities, hits, strict=True):
        if hit * denominator >= total * numerator:
            return capacity
    return None
