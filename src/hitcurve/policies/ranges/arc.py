"""arc on ranges: as many victims at once as the same rule would choose one by one.

With t1, t2, b1, b2 blocks in T1, T2, B1, B2, a victim changes them by one each, so how often a rule goes on being the
one that applies is arithmetic; see ``turns``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.frame import capacity_of
from hitcurve.kernels.range_loop import replay_ranges
from hitcurve.kernels.run_ghosts import enter_ghosts, forget, remembered_piece
from hitcurve.kernels.run_walk import begin_walk, move_to_front, pins_of, take_oldest, without_piece
from hitcurve.kernels.runs import Runs, cut, new_runs, push_front
from hitcurve.policies.ranges.form import RangeForm

T1, T2, B1, B2 = range(4)


class State(NamedTuple):
    runs: Runs  # T1, T2, B1, B2
    passed: np.ndarray  # int64 (4,): see kernels/run_walk.py
    target: np.ndarray  # float64 [0]: blocks that T1 should hold


def new_state(size, params):
    runs = new_runs(size.n_blocks, 4, 3 * size.capacity, size.low_is_newer)
    return State(runs, np.zeros(4, np.int64), np.zeros(1))


@helper
def on_allocate(state, frame):
    begin_walk(state.runs, state.passed)


@helper
def on_hit(state, frame, first, end):
    move_to_front(state.runs, T2, first, end)


@part
def enter(state, capacity, first, end):
    runs = state.runs
    while first < end:
        node, start, stop = remembered_piece(runs, first, end)
        if node >= 0:
            adapt(state, np.int64(runs.nodes[node].queue), stop - start, capacity)
            cut(runs, node, start, stop)
        push_front(runs, T2 if node >= 0 else T1, start, stop)
        first, end = without_piece(runs, first, end, start, stop)


@helper
def adapt(state, place, n, capacity):
    """Shift the target of T1 toward the queue whose memory was right, once for each of n blocks."""
    n1, n2 = state.runs.size[B1], state.runs.size[B2]
    for _ in range(n):
        if place == B1:
            state.target[0] = min(state.target[0] + max(n2 / n1, 1.0), float(capacity))
            n1 -= 1
        else:
            state.target[0] = max(state.target[0] - max(n1 / n2, 1.0), 0.0)
            n2 -= 1


@helper
def on_insert(state, frame, first, end):
    enter(state, capacity_of(frame), first, end)


@helper
def turns(size, target, capacity, over, full, q, taken):
    """How many victims in a row the rules choose alike, when q is to give them and ``taken`` (q, if it can) does.

    The choice of q stands while t1 stays above the target, or t2 above 0.  The rule stands, with B1 forgetting, while
    t1 + b1 >= c, which each victim lowers by 1; with B2 forgetting while t1 + t2 + b1 + b2 >= 2c, the same; with T1
    dropping its blocks while t1 + b1 >= c; and else for good, unless B2 is empty, gets a block and has to forget.
    """
    most = np.int64(2**62)
    if taken == q and q == T2:
        most = size[T2]
    elif taken == q and size[T1] > target and size[T2] > 0:
        most = np.int64(np.ceil(size[T1] - target))
    if over and size[B1] > 0:
        most = min(most, size[T1] + size[B1] - capacity + 1, size[B1] if taken == T2 else most)
    elif over:
        most = min(most, size[T1] - capacity + 1 if taken == T1 else most)
    elif full and size[B2] > 0:
        most = min(most, size[T1] + size[T2] + size[B1] + size[B2] - 2 * capacity + 1)
    elif full:
        most = np.int64(1)
    return most


@part
def evict_some(state, pins, capacity, needed):
    runs, size = state.runs, state.runs.size
    over = size[T1] + size[B1] >= capacity
    full = size[T1] + size[T2] + size[B1] + size[B2] >= 2 * capacity
    forgetting = B1 if over and size[B1] > 0 else B2 if not over and full and size[B2] > 0 else -1
    dropping = over and forgetting < 0
    q = T1 if size[T1] > state.target[0] or size[T2] == 0 or dropping else T2
    taken = q
    most = turns(size, state.target[0], capacity, over, full, q, taken)
    first, end = take_oldest(pins, runs, state.passed, taken, min(needed, most))
    if first == end:
        taken = T1 + T2 - q
        most = turns(size, state.target[0], capacity, over, full, q, taken)
        first, end = take_oldest(pins, runs, state.passed, taken, min(needed, most))
    left, upto = first, end
    while left < upto and not dropping:
        n = upto - left
        if forgetting >= 0:
            n = forget(pins, runs, state.passed, forgetting, n)
        left, upto = enter_ghosts(runs, state.passed, B1 + taken, left, upto, n)
    return first, end


@helper
def evict(state, frame, needed):
    return evict_some(state, pins_of(frame), capacity_of(frame), needed)


@entry
def replay(frame, state, begin, end):
    return replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


RANGES = RangeForm(new_state, replay, remembered=(B1, B2))
