"""qdlp on ranges: promotions into a full main queue and the victims they push out go in step, a stretch at a time."""

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
    threshold: int
    main_limit: int
    ghost_limit: int


def new_state(size, params):
    ghost_limit = int(size.capacity * params.ghost)
    return State(
        new_runs(size.n_blocks, 3, size.capacity + ghost_limit, size.low_is_newer),
        counters=new_planes(size.n_blocks, max(params.threshold, MOST).bit_length()),
        passed=np.zeros(3, np.int64),
        threshold=params.threshold,
        main_limit=size.capacity - max(1, int(size.capacity * params.small)),
        ghost_limit=ghost_limit,
    )


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)


@helper
def on_hit(state, frame, first, end):
    count_up(state.counters, first, end)


@part
def enter(state, first, end):
    runs = state.runs
    set_to(state.counters, first, end, 0)
    while first < end:
        known, start, stop = recall(runs, first, end)
        first, end = without_piece(runs, first, end, start, stop)
        push_front(runs, MAIN if known else SMALL, start, stop)


@helper
def on_insert(state, frame, first, end):
    enter(state, first, end)


@part
def evict_some(state, pins, needed):
    runs = state.runs
    size = runs.size
    if size[MAIN] > state.main_limit:
        most = min(needed, size[MAIN] - state.main_limit)
        first, end = take_unused(pins, runs, state.passed, MAIN, state.counters, most)
        if first < end:
            return first, end
    while True:
        node, first, end = oldest_free(pins, runs, state.passed, SMALL)
        if is_sentinel(runs, node):
            return take_unused(pins, runs, state.passed, MAIN, state.counters, needed)
        reached, first, end = oldest_level(runs, state.counters, first, end, state.threshold)
        if not reached:
            first, end = oldest_of(runs, first, end, needed)
            cut(runs, node, first, end)
            remember(pins, runs, state.passed, GHOST, state.ghost_limit, first, end)
            return first, end
        room = state.main_limit - size[MAIN]
        start = stop = np.int64(0)
        if room <= 0:
            start, stop = take_unused(pins, runs, state.passed, MAIN, state.counters, min(needed, end - first))
            room = max(stop - start, 1)
        first, end = oldest_of(runs, first, end, room)
        cut(runs, node, first, end)
        push_on_walk(runs, state.passed, MAIN, first, end)
        set_to(state.counters, first, end, 0)
        if start < stop:
            return start, stop


@helper
def evict(state, frame, needed):
    return evict_some(state, pins_of(frame), needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay, remembered=(GHOST,))
