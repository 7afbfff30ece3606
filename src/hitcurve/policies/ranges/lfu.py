"""lfu on ranges: queue f holds the blocks of frequency f, as runs; a hit stretch moves up as it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.bits import add, discard, new_bits, stretch_end
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_walk import first_piece, move_piece, oldest_free, oldest_of, pins_of, without_piece
from hitcurve.kernels.runs import Runs, cut, is_sentinel, new_runs, push_front, sentinel
from hitcurve.policies.ranges.form import RangeForm


class State(NamedTuple):
    runs: Runs  # queue f: frequency f; no block is accessed more often than there are requests
    occupied: np.ndarray  # bit set of the frequencies that occur
    lowest: np.ndarray  # int64 [0]: frequency that the walk of this allocation has come to
    passed: np.ndarray  # int64 (1,): see kernels/run_walk.py


def new_state(size, params):
    n_queues = size.n_requests + 2
    runs = new_runs(size.n_blocks, n_queues, size.capacity, size.low_is_newer)
    return State(runs, new_bits(n_queues), np.zeros(1, np.int64), np.zeros(1, np.int64))


@helper
def go_to_next(state, frequency):
    """Start on the lowest frequency from ``frequency`` on that occurs."""
    state.lowest[0] = stretch_end(state.occupied, frequency, len(state.runs.size), False)
    state.passed[0] = sentinel(state.runs, state.lowest[0])


@helper
def on_allocate(state, frame):
    go_to_next(state, np.int64(1))


@part
def rise(state, first, end):
    runs = state.runs
    while first < end:
        node, start, stop = first_piece(runs, first, end)
        first, end = without_piece(runs, first, end, start, stop)
        frequency = np.int64(runs.nodes[node].queue)
        move_piece(runs, frequency + 1, node, start, stop)
        add(state.occupied, frequency + 1)
        if runs.size[frequency] == 0:
            discard(state.occupied, frequency)


@helper
def on_hit(state, frame, first, end):
    rise(state, first, end)


@helper
def on_insert(state, frame, first, end):
    push_front(state.runs, 1, first, end)
    add(state.occupied, 1)


@part
def evict_some(state, pins, needed):
    runs = state.runs
    node, first, end = oldest_free(pins, runs, state.passed, 0)
    while is_sentinel(runs, node):
        go_to_next(state, state.lowest[0] + 1)
        node, first, end = oldest_free(pins, runs, state.passed, 0)
    first, end = oldest_of(runs, first, end, needed)
    cut(runs, node, first, end)
    if runs.size[state.lowest[0]] == 0:
        discard(state.occupied, state.lowest[0])
    return first, end


@helper
def evict(state, frame, needed):
    return evict_some(state, pins_of(frame), needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay)
