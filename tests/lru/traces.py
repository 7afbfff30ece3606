"""Small random traces: trees with repeats, prefixes, empty requests and equal times; and ids without a tree."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

SECOND = 1_000_000_000


@st.composite
def tree_requests(draw: Any, most: int = 14, depth: int = 7, width: int = 3) -> list[list[int]]:
    """Requests of raw ids that often go on from, repeat, or cut short an earlier one."""
    requests: list[list[int]] = []
    for _ in range(draw(st.integers(0, most))):
        base = draw(st.sampled_from([[], *requests]))
        kept = base[: draw(st.integers(0, len(base)))]
        new = draw(st.lists(st.integers(0, width - 1), max_size=depth))
        requests.append((kept + new)[: 2 * depth])
    return requests


def any_requests(most: int = 12, depth: int = 8, ids: int = 5) -> st.SearchStrategy[list[list[int]]]:
    """Requests whose ids repeat within a request and under several parents."""
    return st.lists(st.lists(st.integers(0, ids - 1), max_size=depth), max_size=most)


@st.composite
def with_times(draw: Any, requests: st.SearchStrategy[list[list[int]]]) -> tuple[list[list[int]], list[int]]:
    """Requests, and times in seconds that never decrease and often stand still."""
    drawn = draw(requests)
    gaps = draw(st.lists(st.integers(0, 3), min_size=len(drawn), max_size=len(drawn)))
    times, now = [], 0
    for gap in gaps:
        now += gap
        times.append(now)
    return drawn, times
