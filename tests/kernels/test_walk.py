"""The walk of an allocation equals a search from the back each time, and passes a pinned block once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.frame import PIN
from hitcurve.kernels.queues import listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, forget_oldest, new_walk, oldest_unpinned

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
