"""Merging and re-blocking on plain lists of ids."""

from __future__ import annotations

from typing import Any

from tests.naive.interning import key_of


def reblocked(requests: list[list[Any]], factor: int) -> list[list[Any]]:
    """Each large block named by the whole path to its end."""
    return [[tuple(request[: end + 1]) for end in range(factor - 1, len(request), factor)] for request in requests]


def merged(traces: list[list[tuple[int, int, list[Any]]]], together: bool) -> list[tuple[Any, list[Any]]]:
    """From (time, tenant, ids) of each request of each trace: namespace and ids, in order of time."""
    rows = [
        (time, i, r, tenant if together else (i, tenant), [key_of(raw) for raw in ids])
        for i, trace in enumerate(traces)
        for r, (time, tenant, ids) in enumerate(trace)
    ]
    return [(space, ids) for _, _, _, space, ids in sorted(rows, key=lambda row: row[:3])]
