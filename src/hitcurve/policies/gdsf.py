"""GDSF: evict the block with the lowest priority, its frequency plus the age of the cache when it was last touched.

Cherkasova: "Improving WWW Proxies Performance with Greedy-Dual-Size-Frequency Caching Policy", HP Labs HPL-98-69R1,
1998.  The age is the priority of the last victim, so what was used often long ago is overtaken in the end.  Of equal
priorities, the block touched longest ago goes first.

Differs from the paper: blocks have size 1 and fetch cost 1.  A pinned block is set aside until the request touches it.
libCacheSim scales frequencies by 10^6, which orders the same.

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
    frequency: np.ndarray  # int64 (n_blocks,): touches since the block became resident
    priority: np.ndarray  # int64 (n_blocks,)
    touched: np.ndarray  # int64 (n_blocks,): clock of the last access
    age: np.ndarray  # int64 [0]: priority of the last victim


def new_state(n_blocks, capacity, params, seed):
    frequency, priority, touched = np.zeros((3, n_blocks), np.int64)
    return State(new_heap(n_blocks, capacity), frequency, priority, touched, np.zeros(1, np.int64))


@helper
def touch(state, block, now):
    state.priority[block] = state.age[0] + state.frequency[block]
    state.touched[block] = now
    if not holds(state.heap, block):
        push(state.heap, block, state.priority[block], now)


@helper
def on_hit(state, frame, block, position, now):
    state.frequency[block] += 1
    touch(state, block, now)


@helper
def on_insert(state, frame, block, position, now):
    state.frequency[block] = 1
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
    "gdsf",
    family="frequency",
    paper="Cherkasova, Greedy-Dual-Size-Frequency Caching Policy, HP Labs HPL-98-69R1, 1998",
    year=1998,
    new_state=new_state,
    replay=replay,
    check=check,
)
