"""twoq on ranges."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_ghosts import recall, remember
from hitcurve.kernels.run_walk import begin_walk, first_piece, move_piece, pins_of, take_oldest, without_piece
from hitcurve.kernels.runs import Runs, new_runs, push_front
from hitcurve.policies.ranges.form import RangeForm

ONCE, AGAIN, GHOST = range(3)


class State(NamedTuple):
    runs: Runs  # ONCE, AGAIN, GHOST
    passed: np.ndarray  # int64 (3,): see kernels/run_walk.py
    once_limit: int
    ghost_limit: int


def new_state(size, params):
    ghost_limit = int(size.capacity * params.ghost)
    return State(
        new_runs(size.n_blocks, 3, size.capacity + ghost_limit, size.low_is_newer),
        np.zeros(3, np.int64),
        once_limit=int(size.capacity * params.once),
        ghost_limit=ghost_limit,
    )


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)


@part
def touch(runs, first, end):
    while first < end:
        node, start, stop = first_piece(runs, first, end)
        first, end = without_piece(runs, first, end, start, stop)
        if runs.nodes[node].queue == AGAIN:
            move_piece(runs, AGAIN, node, start, stop)


@helper
def on_hit(state, frame, first, end):
    touch(state.runs, first, end)


@helper
def on_insert(state, frame, first, end):
    while first < end:
        known, start, stop = recall(state.runs, first, end)
        first, end = without_piece(state.runs, first, end, start, stop)
        push_front(state.runs, AGAIN if known else ONCE, start, stop)


@part
def evict_some(state, pins, needed):
    over = state.runs.size[ONCE] - state.once_limit
    q = ONCE if over > 0 else AGAIN
    first, end = take_oldest(pins, state.runs, state.passed, q, min(needed, over) if over > 0 else needed)
    if first == end:
        q = ONCE + AGAIN - q
        first, end = take_oldest(pins, state.runs, state.passed, q, needed)
    if q == ONCE:
        remember(pins, state.runs, state.passed, GHOST, state.ghost_limit, first, end)
    return first, end


@helper
def evict(state, frame, needed):
    return evict_some(state, pins_of(frame), needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay, remembered=(GHOST,))
