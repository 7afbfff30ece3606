"""fifo on ranges: a hit costs nothing, not even a look at the queue."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_walk import begin_walk, pins_of, take_oldest
from hitcurve.kernels.runs import Runs, new_runs, push_front
from hitcurve.policies.ranges.form import RangeForm


class State(NamedTuple):
    runs: Runs
    passed: np.ndarray  # int64 (1,): see kernels/run_walk.py


def new_state(size, params):
    return State(new_runs(size.n_blocks, 1, size.capacity, size.low_is_newer), np.zeros(1, np.int64))


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)


@helper
def on_hit(state, frame, first, end):
    pass


@helper
def on_insert(state, frame, first, end):
    push_front(state.runs, 0, first, end)


@helper
def evict(state, frame, needed):
    return take_oldest(pins_of(frame), state.runs, state.passed, 0, needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay)
