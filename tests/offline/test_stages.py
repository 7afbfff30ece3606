"""Threads change when steps run, never what they do."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.offline.stages import run_through


class Wrong(Exception):
    pass


def source(n, fails_at=None):
    for number in range(n):
        if number == fails_at:
            raise Wrong("source", number)
        yield number


def outcome(n, fails_at, failing, threads):
    """What the last step saw, and what was raised."""
    seen, lock = [], threading.Lock()

    def step(k):
        def run(number):
            if (k, number) in failing:
                raise Wrong(k, number)
            if k == 2:
                with lock:
                    seen.append(number)
            return number

        return run

    try:
        run_through(source(n, fails_at), [step(0), step(1), step(2)], threads)
    except Wrong as wrong:
        return seen, wrong.args
    return seen, None


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 12),
    st.none() | st.integers(0, 12),
    st.sets(st.tuples(st.integers(0, 2), st.integers(0, 12)), max_size=4),
)
def test_items_pass_in_order_and_the_first_that_fails_is_told(n, fails_at, failing):
    before = threading.active_count()
    assert outcome(n, fails_at, failing, True) == outcome(n, fails_at, failing, False)
    assert threading.active_count() == before


def test_few_items_are_under_way():
    made, done, most = 0, 0, 0

    def items():
        nonlocal made
        for number in range(200):
            made += 1
            yield number

    def slow(number):
        nonlocal done, most
        most = max(most, made - done)
        time.sleep(0.0005)
        done += 1
        return number

    run_through(items(), [lambda number: number, slow], True)
    assert done == 200 and most <= 8


def test_steps_run_at_the_same_time():
    """Each waits for the other to have an item too."""
    both = threading.Barrier(2, timeout=20)
    run_through(range(10), [lambda number: (both.wait(), number)[1] if number else number,
                            lambda number: both.wait() if number < 9 else number], True)  # fmt: skip


def test_an_interrupt_throws_away_what_waits():
    seen = []

    def items():
        yield from range(3)
        raise KeyboardInterrupt

    def slow(number):
        time.sleep(0.05)
        seen.append(number)

    with pytest.raises(KeyboardInterrupt):
        run_through(items(), [slow], True)
    assert len(seen) < 3 and threading.active_count() == 1
