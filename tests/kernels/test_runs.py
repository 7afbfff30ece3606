"""Queues of runs against plain lists of blocks, in both orientations, with every invariant checked after each step."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels import run_ghosts, run_walk, runs
from hitcurve.kernels.run_walk import Pins

N, QUEUES = 200, 3

ranges = st.tuples(st.integers(0, N - 1), st.integers(1, 80)).map(lambda r: (r[0], min(N, r[0] + r[1])))
steps = st.lists(st.tuples(st.sampled_from(["push", "move", "take"]), st.integers(0, QUEUES - 1), ranges), max_size=40)


@entry
def push(queues, q, first, end):
    runs.push_front(queues, q, first, end)


@entry
def move(queues, q, first, end):
    run_walk.move_to_front(queues, q, first, end)


@entry
def take(pins, queues, passed, q, most):
    return run_walk.take_oldest(pins, queues, passed, q, most)


@entry
def piece(queues, first, end):
    return run_ghosts.remembered_piece(queues, first, end)


def _stretches(blocks):
    """Maximal stretches of consecutive ids."""
    found = []
    for block in sorted(blocks):
        if found and found[-1][1] == block:
            found[-1][1] = block + 1
        else:
            found.append([block, block + 1])
    return found


@pytest.mark.parametrize("low_is_newer", [True, False])
@settings(max_examples=150, deadline=None)
@given(steps=steps, pinned=st.lists(ranges, max_size=4))
def test_queues_of_runs_are_lists(low_is_newer, steps, pinned):
    queues = runs.new_runs(N, QUEUES, N, low_is_newer)
    lists = [[] for _ in range(QUEUES)]  # newest first
    spans = _stretches({block for first, end in pinned for block in range(first, end)})
    pins = Pins(
        np.array([first for first, _ in spans], np.int32),
        np.array([end - first for first, end in spans], np.int32),
        0,
        len(spans),
    )
    held = {block for first, end in spans for block in range(first, end)}
    for kind, q, (first, end) in steps:
        standing = {block for blocks in lists for block in blocks}
        if kind == "take":
            passed = np.arange(len(queues.nodes) - QUEUES, len(queues.nodes))
            got = take(pins, queues, passed, q, end - first)
            free = [block for block in lists[q][::-1] if block not in held]
            taken = list(range(*got)) if low_is_newer is False else list(range(*got))[::-1]
            assert taken == free[: len(taken)] and len(taken) <= end - first and bool(taken) == bool(free)
            lists[q] = [block for block in lists[q] if block not in taken]
        else:
            wanted = standing if kind == "move" else set(range(N)) - standing
            for start, stop in _stretches(wanted & set(range(first, end))):
                (move if kind == "move" else push)(queues, q, start, stop)
                moved = list(range(start, stop))
                lists = [[block for block in blocks if block not in set(moved)] for blocks in lists]
                lists[q] = (moved if low_is_newer else moved[::-1]) + lists[q]
        assert runs.check_runs(queues) == lists
        _pieces_are_runs_and_gaps(queues, {block for blocks in lists for block in blocks}, low_is_newer, first, end)


def _pieces_are_runs_and_gaps(queues, standing, low_is_newer, first, end):
    """A range falls into pieces of one run each, and maximal gaps, in the order of the access."""
    while first < end:
        node, start, stop = piece(queues, first, end)
        assert first <= start < stop <= end and (stop == end if low_is_newer else start == first)
        last = start == first if low_is_newer else stop == end
        beyond = start - 1 if low_is_newer else stop
        if node >= 0:
            run = queues.nodes[node]
            assert set(range(start, stop)) <= standing and run.first <= start and stop <= run.first + run.length
            assert last or not run.first <= beyond < run.first + run.length
        else:
            assert not standing.intersection(range(start, stop)) and (last or beyond in standing)
        first, end = (first, start) if low_is_newer else (stop, end)


def test_the_table_grows_with_the_runs_and_memory_with_what_is_touched():
    n = 20_000
    queues = runs.new_runs(n, 1, n, True)
    for first in range(0, n, 2):  # no two of these runs touch
        push(queues, 0, first, first + 1)
    n_runs = int(queues.numbers[runs.N_RUNS])
    assert n_runs == n // 2 == queues.numbers[runs.USED]
    slots = int(queues.numbers[runs.MASK]) + 1
    per_run = 20 + 4 * slots / n_runs
    assert 0.75 * slots >= n_runs and per_run <= 32
    assert 8 * len(queues.starts) <= n / 8 + 32
    assert runs.check_runs(queues) == [list(range(n - 2, -1, -2))]
