"""The walk of an allocation equals a search from the back each time, and passes a pinned block once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.frame import PIN
from hitcurve.kernels.queues import listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, forget_oldest, new_walk, oldest_unpinned, remember, take_spent

N = 8


class Pins(NamedTuple):
    """As much of the frame as the walk looks at."""

    requested: np.ndarray
    numbers: np.ndarray


@entry
def begin(queues, passed):
    begin_walk(queues, passed)


@entry
def fill(queues, q, block):
    push_front(queues, q, block)


@entry
def oldest(queues, passed, q, pins):
    return oldest_unpinned(queues, passed, q, pins)


@entry
def leave(queues, q, block, again):
    if again:
        move_to_front(queues, q, block)
    else:
        remove(queues, q, block)


@entry
def forget(queues, passed, q, pins):
    return forget_oldest(queues, passed, q, pins)


@entry
def keep(queues, passed, limit, place, block, pins):
    remember(queues, passed, 1, limit, place, np.uint8(9), block, pins)


@entry
def spent(queues, passed, counter, most, pins):
    return take_spent(queues, passed, 0, counter, most, pins)


@settings(max_examples=150, deadline=None)
@given(
    order=st.permutations(range(N)),
    pinned=st.sets(st.integers(0, N - 1)),
    pin=st.booleans(),
    steps=st.lists(st.sampled_from(["remove", "renew", "forget", "begin"]), max_size=20),
)
def test_equals_a_search_from_the_back(order, pinned, pin, steps):
    queues, expected = new_queues(N, 2), list(order)  # oldest first, in queue 1
    for block in order:
        fill(queues, 1, block)
    pins = Pins(np.zeros(N, np.uint8), np.zeros(9, np.int64))
    pins.requested[list(pinned)] = 1
    pins.numbers[PIN] = pin
    passed = new_walk(queues)
    for step in steps:
        free = [b for b in expected if not pin or b not in pinned]
        found = oldest(queues, passed, 1, pins)
        assert found == free[0] if free else found >= N
        if step == "begin":
            begin(queues, passed)
        elif step == "forget" and expected:
            block = forget(queues, passed, 1, pins)
            assert block == (free or expected)[0]
            expected.remove(block)
        elif step in ("remove", "renew") and free:
            leave(queues, 1, found, step == "renew")
            expected.remove(found)
            expected += [found] * (step == "renew")
        assert listed(queues, 1)[::-1] == expected and listed(queues, 0) == []
    assert oldest(queues, passed, 0, pins) >= N


@settings(max_examples=100, deadline=None)
@given(
    evicted=st.permutations(range(N)),
    limit=st.integers(0, N),
    pinned=st.sets(st.integers(0, N - 1)),
)
def test_a_ghost_queue_remembers_the_latest(evicted, limit, pinned):
    queues, place, expected = new_queues(N, 2), np.full(N, 9, np.uint8), []
    pins = Pins(np.zeros(N, np.uint8), np.ones(9, np.int64))
    pins.requested[list(pinned)] = 1
    passed = new_walk(queues)
    for block in evicted:
        if len(expected) == limit and limit:
            expected.remove(next((b for b in expected if b not in pinned), expected[0]))
        expected += [block] * (limit > 0)
        keep(queues, passed, limit, place, block, pins)
        assert listed(queues, 1)[::-1] == expected
        assert np.flatnonzero(place == 1).tolist() == sorted(expected) and set(place.tolist()) <= {1, 9}


@settings(max_examples=100, deadline=None)
@given(
    counts=st.lists(st.integers(0, 5), min_size=N, max_size=N),
    most=st.integers(1, 3),
    pinned=st.sets(st.integers(0, N - 1)),
)
def test_blocks_go_round_while_they_have_turns(counts, most, pinned):
    queues, counter, expected, left = new_queues(N, 1), np.array(counts, np.uint8), list(range(N)), counts.copy()
    for block in expected:
        fill(queues, 0, block)
    pins = Pins(np.zeros(N, np.uint8), np.ones(9, np.int64))
    pins.requested[list(pinned)] = 1
    passed = new_walk(queues)
    for _ in range(N + 1):
        victim = -1
        for block in (free := [b for b in expected if b not in pinned]):  # grows while it is walked
            if left[block] == 0:
                victim = block
                expected.remove(block)
                break
            left[block] = min(left[block], most) - 1
            expected.remove(block)
            expected.append(block)
            free.append(block)
        assert spent(queues, passed, counter, most, pins) == victim
        assert listed(queues, 0)[::-1] == expected and counter.tolist() == left
