"""clock on ranges: the counters are bit planes, and what lies together and is used goes round together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.planes import count_down, count_up, new_planes, set_to
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_walk import begin_walk, oldest_free, oldest_level, oldest_of, pins_of, push_on_walk
from hitcurve.kernels.runs import Runs, cut, new_runs, push_front
from hitcurve.policies.ranges.form import RangeForm


class State(NamedTuple):
    runs: Runs
    counters: np.ndarray  # planes
    passed: np.ndarray  # int64 (1,): see kernels/run_walk.py
    initial: int


def new_state(size, params):
    runs = new_runs(size.n_blocks, 1, size.capacity, size.low_is_newer)
    planes = new_planes(size.n_blocks, params.bits)
    return State(runs, planes, np.zeros(1, np.int64), min(params.initial, 2**params.bits - 1))


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)


@helper
def on_hit(state, frame, first, end):
    count_up(state.counters, first, end)


@helper
def on_insert(state, frame, first, end):
    push_front(state.runs, 0, first, end)
    set_to(state.counters, first, end, state.initial)


@part
def evict_some(state, pins, needed):
    node, first, end = oldest_free(pins, state.runs, state.passed, 0)
    used, first, end = oldest_level(state.runs, state.counters, first, end, 1)
    if not used:
        first, end = oldest_of(state.runs, first, end, needed)
    cut(state.runs, node, first, end)
    if used:
        count_down(state.counters, first, end)
        push_on_walk(state.runs, state.passed, 0, first, end)
        end = first
    return first, end


@helper
def evict(state, frame, needed):
    return evict_some(state, pins_of(frame), needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay)
