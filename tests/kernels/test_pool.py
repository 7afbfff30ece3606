"""The pool equals two plain lists, facts stay with their blocks, and draws are uniform over what may be drawn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.frame import PIN, REQUEST
from hitcurve.kernels.pool import DRAWABLE, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.rng import seeded

N = 10


class Arriving(NamedTuple):
    """As much of a frame as the pool reads: one request, of the blocks first .. first + length - 1."""

    numbers: np.ndarray
    span_offsets: np.ndarray
    span_first: np.ndarray
    span_length: np.ndarray


def arriving(first: int, length: int, pin: bool) -> Arriving:
    numbers = np.zeros(9, np.int64)
    numbers[PIN], numbers[REQUEST] = pin, 0
    return Arriving(numbers, np.array([0, 1]), np.array([first], np.int32), np.array([length], np.int32))


@entry
def begin(pool, frame):
    set_pinned_aside(pool, frame)


@entry
def admit(pool, block, fact):
    pool.facts[add(pool, block), 0] = fact


@entry
def dismiss(pool, rng):
    return remove(pool, draw(pool, rng))


@entry
def count_draws(pool, rng, counts, n):
    for _ in range(n):
        counts[pool.members[draw(pool, rng)]] += 1


allocations = st.lists(
    st.tuples(st.integers(0, N - 1), st.integers(1, N), st.booleans(), st.integers(0, 4)), min_size=1, max_size=30
)


@settings(max_examples=100, deadline=None)
@given(allocations)
def test_equals_plain_lists(allocations):
    pool, rng, members = new_pool(N, N, n_facts=1), seeded(1), set()
    for first, length, pin, victims in allocations:
        length = min(length, N - first)
        request = set(range(first, first + length))
        begin(pool, arriving(first, length, pin))
        assert set(listed(pool)) == members
        assert set(listed(pool)[pool.numbers[DRAWABLE] :]) == (members & request if pin else set())
        for _ in range(min(victims, pool.numbers[DRAWABLE])):
            victim = dismiss(pool, rng)
            assert victim in members and not (pin and victim in request)
            members.remove(victim)
            assert set(listed(pool)) == members
            assert set(listed(pool)[pool.numbers[DRAWABLE] :]) == (members & request if pin else set())
        for block in sorted(request - members):
            admit(pool, block, 100 + block)
        members |= request
        assert set(listed(pool)) == members
        assert all(pool.facts[pool.slot[block], 0] == 100 + block for block in members)


def test_draws_are_uniform_over_the_unpinned():
    pool, counts = new_pool(N, N), np.zeros(N, np.int64)
    for block in range(N):
        admit_without_facts(pool, block)
    begin(pool, arriving(3, 4, True))
    count_draws(pool, seeded(2), counts, 60_000)
    assert counts[3:7].tolist() == [0, 0, 0, 0]
    assert abs(np.delete(counts, np.s_[3:7]) - 10_000).max() < 500  # more than five standard deviations


@entry
def admit_without_facts(pool, block):
    add(pool, block)
