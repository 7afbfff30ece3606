"""The pool equals plain sets, facts stay with their blocks, and draws are uniform over what may be drawn."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.frame import PIN, REQUEST
from hitcurve.kernels.pool import DRAWABLE, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.rng import seeded
from hitcurve.simulation import new_frame
from hitcurve.trace import Trace

FACTS = np.dtype([("known", np.int64)])


@entry
def begin(pool, frame):
    set_pinned_aside(pool, frame)


@entry
def admit(pool, block, fact):
    pool.facts[add(pool, block)].known = fact


@entry
def dismiss(pool, rng):
    return remove(pool, draw(pool, rng))


@entry
def count_draws(pool, rng, counts, n):
    for _ in range(n):
        counts[pool.members[draw(pool, rng)]] += 1


allocations = st.lists(
    st.tuples(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.booleans(), st.integers(0, 4)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=100, deadline=None)
@given(allocations)
def test_equals_plain_sets(allocations):
    trace = Trace.of_requests([blocks for blocks, _, _ in allocations], identity="raw")
    frame = new_frame(trace, 10, np.ones(6))
    pool, rng, members = new_pool(trace.n_blocks, 10, FACTS), seeded(1), set()
    for r, (_, pin, victims) in enumerate(allocations):
        request = set(trace.blocks(r).tolist())
        frame.numbers[PIN], frame.numbers[REQUEST] = pin, r
        begin(pool, frame)
        aside = members & request if pin else set()
        assert set(listed(pool)) == members
        assert set(listed(pool)[pool.numbers[DRAWABLE] :]) == aside
        for _ in range(min(victims, len(members - aside))):
            victim = dismiss(pool, rng)
            assert victim in members - aside
            members.remove(victim)
            assert set(listed(pool)) == members
            assert set(listed(pool)[pool.numbers[DRAWABLE] :]) == aside
        for block in sorted(request - members):
            admit(pool, block, 100 + block)
        members |= request
        assert set(listed(pool)) == members
        assert all(pool.facts[pool.slot[block]].known == 100 + block for block in members)


def test_draws_are_uniform_over_the_unpinned():
    trace = Trace.of_requests([list(range(10)), [3, 4, 5, 6]], identity="raw")
    frame = new_frame(trace, 10, np.ones(10))
    frame.numbers[REQUEST] = 1
    pool, counts = new_pool(10, 10, FACTS), np.zeros(10, np.int64)
    for block in range(10):
        admit(pool, block, 0)
    begin(pool, frame)
    count_draws(pool, seeded(2), counts, 60_000)
    assert counts[3:7].tolist() == [0, 0, 0, 0]
    assert abs(np.delete(counts, np.s_[3:7]) - 10_000).max() < 500  # more than five standard deviations
