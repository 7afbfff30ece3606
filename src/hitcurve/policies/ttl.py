"""TTL: a block dies when it has not been used for a time; where room runs out before, LRU.

A block lives while its age, the time from its last use to the arrival of a request, is less than ``seconds``.  Every
use begins its life anew.  What has died by the time a request arrives is freed before the request is looked up, and
counted as released.  Victims for want of room are the least recently used.

Differs from the paper: folklore, no paper.  The rule is that of hitcurve's own curves: at a capacity that holds the
longest request, hits are those of ``hitcurve curve --ttl``, for what has died is always older than what lives.  The
default of five minutes is what prompt caches of providers commonly promise.  Pinned blocks are passed over.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import REQUEST, is_pinned
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    is_sentinel,
    listed,
    move_to_front,
    new_queues,
    newer,
    push_front,
    remove,
)
from hitcurve.policies.policy import Policy, in_ns


class Params(NamedTuple):
    seconds: float = 300.0  # a block lives while it has not been used for less than this


class State(NamedTuple):
    queue: Queues
    walk: np.ndarray  # int64 [0]: next candidate of this allocation
    used_ns: np.ndarray  # int64 (n_blocks,): arrival of the last request that held the block
    ttl_ns: int


def new_state(n_blocks, capacity, params, seed):
    ttl_ns = in_ns("ttl", "seconds", params.seconds)
    return State(new_queues(n_blocks), np.zeros(1, np.int64), np.zeros(n_blocks, np.int64), ttl_ns)


@helper
def release(state, frame, now):
    block = back(state.queue, 0)
    if is_sentinel(state.queue, block):
        return np.int64(-1)
    if frame.arrival_ns[frame.numbers[REQUEST]] - state.used_ns[block] < state.ttl_ns:
        return np.int64(-1)
    remove(state.queue, 0, block)
    return block


@helper
def on_allocate(state, frame, now):
    state.walk[0] = back(state.queue, 0)


@helper
def on_hit(state, frame, block, position, now):
    move_to_front(state.queue, 0, block)
    state.used_ns[block] = frame.arrival_ns[frame.numbers[REQUEST]]


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queue, 0, block)
    state.used_ns[block] = frame.arrival_ns[frame.numbers[REQUEST]]


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
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict, nothing, nothing, release)


def check(state, frame):
    blocks = listed(state.queue, 0)
    assert sorted(blocks) == np.flatnonzero(frame.resident).tolist()
    ages = frame.arrival_ns[frame.numbers[REQUEST]] - state.used_ns[blocks]
    assert (np.diff(ages) >= 0).all() and (ages < max(1, state.ttl_ns)).all()


POLICY = Policy(
    "ttl", family="queue", paper="", year=None, new_state=new_state, replay=replay, check=check, params=Params,
    needs=frozenset({"time"}),
)  # fmt: skip
