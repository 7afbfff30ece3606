"""sieve on ranges: the hand clears a stretch of bits at a time, and takes a stretch of unvisited blocks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.bits import add_range, discard_range
from hitcurve.kernels.planes import new_planes
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_walk import oldest_level, oldest_of, pins_of, span_at_or_below
from hitcurve.kernels.runs import (
    LOW_IS_NEWER,
    Runs,
    back,
    cut,
    end_of,
    is_sentinel,
    new_runs,
    newer,
    push_front,
    run_at_or_below,
)
from hitcurve.policies.ranges.form import RangeForm


class State(NamedTuple):
    runs: Runs
    visited: np.ndarray  # one plane
    hand: np.ndarray  # int64 [0]: next candidate; -1 means "start at the oldest"


def new_state(size, params):
    runs = new_runs(size.n_blocks, 1, size.capacity, size.low_is_newer)
    return State(runs, new_planes(size.n_blocks, 1), np.full(1, -1, np.int64))


@helper
def on_allocate(state, frame):
    pass


@helper
def on_hit(state, frame, first, end):
    add_range(state.visited[0], first, end)


@helper
def on_insert(state, frame, first, end):
    push_front(state.runs, 0, first, end)
    discard_range(state.visited[0], first, end)


@helper
def oldest_block(runs, node):
    """The oldest block of a run, -1 of a sentinel."""
    if is_sentinel(runs, node):
        return np.int64(-1)
    return end_of(runs, node) - 1 if runs.numbers[LOW_IS_NEWER] else np.int64(runs.nodes[node].first)


@helper
def step(runs, pins, node, hand):
    """From the hand toward newer blocks of its run, a stretch all pinned or all not: ``(pinned, first, end)``."""
    first, end = np.int64(runs.nodes[node].first), end_of(runs, node)
    s = span_at_or_below(pins, hand)
    begin = np.int64(-1) if s < pins.low else np.int64(pins.first[s])
    stop = np.int64(-1) if s < pins.low else begin + pins.length[s]
    pinned = stop > hand
    if runs.numbers[LOW_IS_NEWER]:
        first, end = max(first, begin if pinned else stop), hand + 1
    else:
        first = hand
        if pinned:
            end = min(end, stop)
        elif s + 1 < pins.high:
            end = min(end, np.int64(pins.first[s + 1]))
    return pinned, first, end


@part
def evict_some(state, pins, needed):
    runs = state.runs
    hand = state.hand[0]
    if hand < 0:
        hand = oldest_block(runs, back(runs, 0))
    node = run_at_or_below(runs, hand)
    pinned, first, end = step(runs, pins, node, hand)
    visited = False
    if not pinned:
        visited, first, end = oldest_level(runs, state.visited, first, end, 1)
        if not visited:
            first, end = oldest_of(runs, first, end, needed)
    if runs.numbers[LOW_IS_NEWER]:
        last = first == runs.nodes[node].first
        state.hand[0] = first - 1
    else:
        last = end == end_of(runs, node)
        state.hand[0] = end
    if last:
        state.hand[0] = oldest_block(runs, newer(runs, node))
    if not pinned and not visited:
        cut(runs, node, first, end)
        return first, end
    if visited:
        discard_range(state.visited[0], first, end)
    return first, first


@helper
def evict(state, frame, needed):
    return evict_some(state, pins_of(frame), needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay)
