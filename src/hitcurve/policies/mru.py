"""MRU: evict the block whose last access is most recent.

Every access moves the block to the front of one queue; the victim is the block at the front.  Best where a scan longer
than the cache repeats; what is resident early stays.

Differs from the paper: folklore, no paper.  A pinned block is passed over on the walk from the front.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, front, listed, move_to_front, new_queues, older, push_front, remove
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    queue: Queues
    walk: np.ndarray  # int64 [0]: next candidate of this allocation


def new_state(n_blocks, capacity, params, seed):
    return State(new_queues(n_blocks), np.zeros(1, np.int64))


@helper
def on_allocate(state, frame, now):
    state.walk[0] = front(state.queue, 0)


@helper
def on_hit(state, frame, block, position, now):
    move_to_front(state.queue, 0, block)


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queue, 0, block)


@helper
def evict(state, frame, now):
    victim = state.walk[0]
    while is_pinned(frame, victim):
        victim = older(state.queue, victim)
    state.walk[0] = older(state.queue, victim)
    remove(state.queue, 0, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.queue, 0)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy("mru", family="queue", paper="", year=None, new_state=new_state, replay=replay, check=check)
