"""LRU-Prob: LRU in which a hit moves the block to the front only with some probability.

Between FIFO (probability 0) and LRU (probability 1); what is used often still moves soon, and most hits cost nothing.

Differs from the paper: folklore, no paper.  A pinned block is passed over on the walk from the back.
Differs from libCacheSim: the probability is used as given, not rounded to one in a whole number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, back, listed, move_to_front, new_queues, newer, push_front, remove
from hitcurve.kernels.rng import seeded, uniform
from hitcurve.policies.policy import Policy


class Params(NamedTuple):
    probability: float = 0.5  # that a hit moves the block to the front


class State(NamedTuple):
    queue: Queues
    walk: np.ndarray  # int64 [0]: next candidate of this allocation
    draws: np.ndarray  # see kernels/rng.py
    probability: float


def new_state(n_blocks, capacity, params, seed):
    if not 0 <= params.probability <= 1:
        raise BadParameter(f"lru-prob: wanted 0 <= probability <= 1, found {params.probability}")
    return State(new_queues(n_blocks), np.zeros(1, np.int64), seeded(seed), params.probability)


@helper
def on_allocate(state, frame, now):
    state.walk[0] = back(state.queue, 0)


@helper
def on_hit(state, frame, block, position, now):
    if uniform(state.draws) < state.probability:
        move_to_front(state.queue, 0, block)


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


POLICY = Policy(
    "lru-prob", family="queue", paper="", year=None, new_state=new_state, replay=replay, check=check, params=Params
)
