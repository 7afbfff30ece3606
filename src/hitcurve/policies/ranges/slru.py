"""slru on ranges: a hit stretch rises as a whole, and as many blocks of the segment above sink.

A block that rises leaves room below for the one that sinks, so sinking never goes on; and whatever sinks is the oldest
of its segment, the risen blocks last: all at once is the same as one by one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_walk import (
    begin_walk,
    first_piece,
    move_piece,
    oldest_of,
    pins_of,
    take_oldest,
    without_piece,
)
from hitcurve.kernels.runs import Runs, back, end_of, new_runs, push_front
from hitcurve.policies.ranges.form import RangeForm


class State(NamedTuple):
    runs: Runs  # a queue a segment, the lowest first
    passed: np.ndarray  # int64 (segments,): see kernels/run_walk.py
    limit: int  # blocks of a segment other than 0


def new_state(size, params):
    runs = new_runs(size.n_blocks, params.segments, size.capacity, size.low_is_newer)
    return State(runs, np.zeros(params.segments, np.int64), size.capacity // params.segments)


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)


@part
def rise(runs, limit, first, end):
    top = len(runs.size) - 1
    while first < end:
        node, start, stop = first_piece(runs, first, end)
        first, end = without_piece(runs, first, end, start, stop)
        below = np.int64(runs.nodes[node].queue)
        segment = min(below + 1, top)
        move_piece(runs, segment, node, start, stop)
        while below < top and runs.size[segment] > limit:
            node = back(runs, segment)
            over = runs.size[segment] - limit
            start, stop = oldest_of(runs, np.int64(runs.nodes[node].first), end_of(runs, node), over)
            move_piece(runs, below, node, start, stop)


@helper
def on_hit(state, frame, first, end):
    rise(state.runs, state.limit, first, end)


@part
def enter(runs, limit, first, end):
    """Fill the segments from the lowest up; where all are full, segment 0 takes the rest."""
    segment = 0
    while first < end:
        while segment < len(runs.size) and runs.size[segment] >= limit:
            segment += 1
        if segment == len(runs.size):
            push_front(runs, 0, first, end)
            break
        start, stop = oldest_of(runs, first, end, limit - runs.size[segment])
        push_front(runs, segment, start, stop)
        first, end = without_piece(runs, first, end, start, stop)


@helper
def on_insert(state, frame, first, end):
    enter(state.runs, state.limit, first, end)


@helper
def evict(state, frame, needed):
    segment = 0
    first, end = take_oldest(pins_of(frame), state.runs, state.passed, 0, needed)
    while first == end:
        segment += 1
        first, end = take_oldest(pins_of(frame), state.runs, state.passed, segment, needed)
    return first, end


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay)
