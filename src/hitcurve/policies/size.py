"""SIZE: evict the largest block; here all blocks are of one size, so what remains is how equals are ordered.

Williams, Abrams, Standridge, Abdulla, Fox: "Removal Policies in Network Caches for World-Wide Web Documents", SIGCOMM
1996.  The order among equals is that of the binary heap in which libCacheSim keeps them: the root goes and the last
slot takes its place, so the first victim is the first block inserted and every later one the last.

Differs from the paper: the random order among equals.  A pinned block keeps its slot; under a pinned root, the last
slot that is not pinned goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    front,
    is_sentinel,
    listed,
    new_queues,
    older,
    push_back,
    push_front,
    remove,
    sentinel,
)
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    slots: Queues  # the heap's array as a queue: the root at the back, the last slot in front
    passed: np.ndarray  # int64 [0]: last pinned block passed from the front in this allocation; the sentinel: none


def new_state(n_blocks, capacity, params, seed):
    return State(new_queues(n_blocks), np.zeros(1, np.int64))


@helper
def on_allocate(state, frame, now):
    state.passed[0] = sentinel(state.slots, 0)


@helper
def on_hit(state, frame, block, position, now):
    pass


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.slots, 0, block)


@helper
def evict(state, frame, now):
    victim = back(state.slots, 0)
    if is_pinned(frame, victim):
        victim = older(state.slots, state.passed[0])
        while is_pinned(frame, victim):
            state.passed[0] = victim
            victim = older(state.slots, victim)
        remove(state.slots, 0, victim)
    else:
        remove(state.slots, 0, victim)
        last = front(state.slots, 0)
        if not is_sentinel(state.slots, last):
            remove(state.slots, 0, last)
            push_back(state.slots, 0, last)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.slots, 0)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "size",
    family="queue",
    paper="Williams et al., Removal Policies in Network Caches for World-Wide Web Documents, SIGCOMM 1996",
    year=1996,
    new_state=new_state,
    replay=replay,
    check=check,
)
