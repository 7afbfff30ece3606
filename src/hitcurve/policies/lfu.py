"""LFU: evict the block used least often since it became resident; among equals, the one longest at that count.

A block enters with count 1 and every hit adds 1; leaving the cache forgets the count.

Differs from the paper: folklore, no paper.  A pinned block is passed over and keeps its count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.frequency import (
    Buckets,
    enter,
    first_block,
    listed_by_frequency,
    new_buckets,
    next_block,
    rise,
    take,
)
from hitcurve.kernels.loop import replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    buckets: Buckets
    walk: np.ndarray  # int64 [0]: next candidate of this allocation


def new_state(n_blocks, capacity, params, seed):
    return State(new_buckets(n_blocks, capacity), np.zeros(1, np.int64))


@helper
def on_allocate(state, frame, now):
    state.walk[0] = first_block(state.buckets)


@helper
def on_hit(state, frame, block, position, now):
    rise(state.buckets, block)


@helper
def on_insert(state, frame, block, position, now):
    enter(state.buckets, block)


@helper
def evict(state, frame, now):
    victim = state.walk[0]
    while is_pinned(frame, victim):
        victim = next_block(state.buckets, victim)
    state.walk[0] = next_block(state.buckets, victim)
    take(state.buckets, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    blocks = [block for _, bucket in listed_by_frequency(state.buckets) for block in bucket]
    assert sorted(blocks) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy("lfu", family="frequency", paper="", year=None, new_state=new_state, replay=replay, check=check)
