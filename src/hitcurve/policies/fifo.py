"""FIFO: evict the block that became resident longest ago.

Insertion order is the order of eviction; a hit changes nothing.

Differs from the paper: folklore, no paper.  A pinned block is passed over and keeps its place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, back, listed, new_queues, newer, push_front, remove
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    queue: Queues
    walk: np.ndarray  # int64 [0]: next candidate of this allocation


def new_state(n_blocks, capacity, params, seed):
    return State(new_queues(n_blocks), np.zeros(1, np.int64))


@helper
def on_allocate(state, frame, now):
    state.walk[0] = back(state.queue, 0)


@helper
def on_hit(state, frame, block, position, now):
    pass


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queue, 0, block)


@helper
def evict(state, frame, now):
    victim = state.walk[0]
    while is_pinned(frame, victim):
        victim = newer(state.queue, victim)
    state.walk[0] = newer(state.queue, victim)
    remove(state.queue, 0, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.queue, 0)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy("fifo", family="queue", paper="", year=None, new_state=new_state, replay=replay, check=check)
