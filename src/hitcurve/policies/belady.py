"""Belady: evict the block whose next use lies farthest in the future.

Belady: "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.  The next
use is known from the trace.  Blocks that are never used again go before all others, those touched longest ago first.

Differs from the paper: the order among blocks never used again, which changes no count.  Nothing has to be done about
pins: the next use of a pinned block is the arriving request, nearer than that of any block outside it.  libCacheSim
leaves the order of blocks never used again to its heap.

Next uses along a path are consecutive numbers, so with the deepest block accessed first a path queues up in one slot
of the heap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.heap import Heap, first, listed, new_heap, push, remove
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    heap: Heap  # by next use, latest first, then by touch


def new_state(n_blocks, capacity, params, seed):
    return State(new_heap(n_blocks, capacity))


@helper
def on_hit(state, frame, block, position, now):
    remove(state.heap, block)
    push(state.heap, block, -frame.next_use[block], now)


@helper
def on_insert(state, frame, block, position, now):
    push(state.heap, block, -frame.next_use[block], now)


@helper
def evict(state, frame, now):
    victim = first(state.heap)
    remove(state.heap, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    nodes = listed(state.heap)
    assert sorted(block for _, _, block in nodes) == np.flatnonzero(frame.resident).tolist()
    assert all(key == -frame.next_use[block] for key, _, block in nodes)


POLICY = Policy(
    "belady",
    family="oracle",
    paper="Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5(2), 1966",
    year=1966,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"next_use"}),
)
