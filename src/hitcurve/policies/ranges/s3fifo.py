"""s3fifo on ranges: a stretch of one level of use is promoted, goes round or leaves as one.

As many blocks leave a queue at once as would leave it one by one before the other queue's turn comes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.planes import count_up, new_planes, set_to
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_ghosts import recall, remember
from hitcurve.kernels.run_turns import take_unused
from hitcurve.kernels.run_walk import (
    begin_walk,
    oldest_free,
    oldest_level,
    oldest_of,
    pins_of,
    push_on_walk,
    without_piece,
)
from hitcurve.kernels.runs import Runs, cut, is_sentinel, new_runs, push_front
from hitcurve.policies.ranges.form import RangeForm

SMALL, MAIN, GHOST = range(3)
MOST = 3


class State(NamedTuple):
    runs: Runs  # SMALL, MAIN, GHOST
    counters: np.ndarray  # planes
    passed: np.ndarray  # int64 (3,): see kernels/run_walk.py
    evicted: np.ndarray  # uint8 [0]: 1 after the first eviction
    threshold: int
    small_limit: int
    main_limit: int
    ghost_limit: int


def new_state(size, params):
    small, ghost_limit = max(1, int(size.capacity * params.small)), int(size.capacity * params.ghost)
    return State(
        new_runs(size.n_blocks, 3, size.capacity + ghost_limit, size.low_is_newer),
        counters=new_planes(size.n_blocks, max(params.threshold, MOST).bit_length()),
        passed=np.zeros(3, np.int64),
        evicted=np.zeros(1, np.uint8),
        threshold=params.threshold,
        small_limit=small,
        main_limit=size.capacity - small,
        ghost_limit=ghost_limit,
    )


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)
    state.evicted[0] = 1


@helper
def on_hit(state, frame, first, end):
    count_up(state.counters, first, end)


@part
def enter(state, first, end):
    runs = state.runs
    set_to(state.counters, first, end, 0)
    while first < end:
        known, start, stop = recall(runs, first, end)
        q = SMALL
        if known:
            q = MAIN
        elif state.evicted[0] == 0:
            room = state.small_limit - runs.size[SMALL]
            if room > 0:
                start, stop = oldest_of(runs, start, stop, room)
            else:
                q = MAIN
        push_front(runs, q, start, stop)
        first, end = without_piece(runs, first, end, start, stop)


@helper
def on_insert(state, frame, first, end):
    enter(state, first, end)


@part
def evict_small(state, pins, needed):
    """Victims of the small queue, its earlier blocks promoted; none when it ends first."""
    runs = state.runs
    while True:
        node, first, end = oldest_free(pins, runs, state.passed, SMALL)
        if is_sentinel(runs, node):
            return first, first
        reached, first, end = oldest_level(runs, state.counters, first, end, state.threshold)
        if not reached:
            first, end = oldest_of(runs, first, end, 1 if runs.size[MAIN] > state.main_limit else needed)
            cut(runs, node, first, end)
            remember(pins, runs, state.passed, GHOST, state.ghost_limit, first, end)
            return first, end
        cut(runs, node, first, end)
        push_on_walk(runs, state.passed, MAIN, first, end)
        set_to(state.counters, first, end, 0)


@helper
def evict(state, frame, needed):
    pins = pins_of(frame)
    over = state.runs.size[MAIN] - state.main_limit
    if over > 0:
        first, end = take_unused(pins, state.runs, state.passed, MAIN, state.counters, min(needed, over))
        if first == end:
            first, end = evict_small(state, pins, needed)
    else:
        first, end = evict_small(state, pins, needed)
        if first == end:
            first, end = take_unused(pins, state.runs, state.passed, MAIN, state.counters, needed)
    return first, end


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay, remembered=(GHOST,))
