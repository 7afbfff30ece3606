"""GDSF by compute: as GDSF, with the frequency weighted by what it costs to compute the block again.

Cherkasova: "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy", HP Labs HPL-98-69R1,
1998, with the cost model's price of the block's position as fetch cost: priority = age + frequency x cost.

Differs from the paper: blocks have size 1.  A pinned block is set aside until the request touches it.  A block keeps
the cost of the position at which it became resident; PrefixSim stops when a block comes back at another position, which
only raw ids do.  The age is kept as a whole number, like costs.

Priorities only grow, so the heap may hold old ones: a block that comes up with an old priority goes back with its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.heap import Heap, first, holds, listed, new_heap, push, remove
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    heap: Heap  # by priority, then by touch; both as of the time the block was pushed
    cost: np.ndarray  # int64 (n_blocks,): of the position at which the block became resident
    worth: np.ndarray  # int64 (n_blocks,): cost x touches since then
    priority: np.ndarray  # int64 (n_blocks,)
    touched: np.ndarray  # int64 (n_blocks,): clock of the last access
    age: np.ndarray  # int64 [0]: priority of the last victim


def new_state(n_blocks, capacity, params, seed):
    cost, worth, priority, touched = np.zeros((4, n_blocks), np.int64)
    return State(new_heap(n_blocks, capacity), cost, worth, priority, touched, np.zeros(1, np.int64))


@helper
def touch(state, block, now):
    state.worth[block] += state.cost[block]
    state.priority[block] = state.age[0] + state.worth[block]
    state.touched[block] = now
    if not holds(state.heap, block):
        push(state.heap, block, state.priority[block], now)


@helper
def on_hit(state, frame, block, position, now):
    touch(state, block, now)


@helper
def on_insert(state, frame, block, position, now):
    state.cost[block] = frame.cost[position]
    state.worth[block] = 0
    touch(state, block, now)


@helper
def evict(state, frame, now):
    victim = np.int64(-1)
    while victim < 0:
        block = first(state.heap)
        fresh = state.heap.keys[block].tie == state.touched[block]
        remove(state.heap, block)
        if not is_pinned(frame, block):  # a pinned block comes back in on_hit
            if fresh:
                victim = block
            else:
                push(state.heap, block, state.priority[block], state.touched[block])
    state.age[0] = state.priority[victim]
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    nodes = listed(state.heap)
    assert sorted(block for _, _, block in nodes) == np.flatnonzero(frame.resident).tolist()
    assert all((key, tie) <= (state.priority[block], state.touched[block]) for key, tie, block in nodes)
    assert all(state.age[0] <= state.priority[block] for _, _, block in nodes)


POLICY = Policy(
    "gdsf_compute",
    family="cost-aware",
    paper="Cherkasova, Greedy-Dual-Size-Frequency Caching Policy, HP Labs HPL-98-69R1, 1998",
    year=1998,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"cost"}),
)
