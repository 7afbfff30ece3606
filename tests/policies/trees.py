"""Random tree-shaped traces: strategies for hypothesis, and longer ones from a seed."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st

from hitcurve.trace import Labels, Trace
from tests.naive.simulation import NaiveContext

tree_requests = st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=40)
block_requests = st.lists(st.integers(0, 12).map(lambda block: [block]), max_size=80)
raw_requests = st.lists(st.lists(st.integers(0, 9), max_size=9), max_size=40)


def conversations(seed: int, n: int = 160, longest: int = 30) -> list[list[int]]:
    """``n`` requests: some begin anew under one of three system prompts, most go on where an earlier one ended."""
    rng = random.Random(seed)
    fresh = iter(range(1000, 10**9))
    prompts = [[p] * k for p, k in ((1, 3), (2, 6), (3, 1))]
    requests: list[list[int]] = []
    for _ in range(n):
        before = rng.choice(requests[-25:]) if requests and rng.random() < 0.8 else rng.choice(prompts)
        kept = before if rng.random() < 0.85 else before[: rng.randrange(len(before) + 1)]
        requests.append((kept + [next(fresh) for _ in range(rng.randrange(7))])[:longest])
    return requests


def in_context(requests: list[list[int]], seed: int) -> tuple[Trace, NaiveContext]:
    """The requests as a trace with drawn times, sessions, types and turns; and the same as a slow twin is told it."""
    rng = random.Random(seed)
    n = len(requests)
    steps = [rng.choice([0, 1, 250_000_000, 1_000_000_000, 40_000_000_000]) for _ in range(n)]
    times = [sum(steps[: r + 1]) for r in range(n)]
    sessions = [rng.choice([None, "a", "b", "c", "d"]) for _ in range(n)]
    types = [rng.choice([None, "chat", "code"]) for _ in range(n)]
    turns = [rng.randrange(3) for _ in range(n)]
    trace = Trace.of_requests(
        requests,
        times=[t / 1e9 for t in times],
        session=Labels.of(sessions),
        request_type=Labels.of(types),
        turn=np.array(turns, np.int32),
    )
    assert trace.arrival_ns.tolist() == times
    return trace, NaiveContext(times, list(zip(types, turns, strict=True)), sessions)
