"""SIEVE: one queue in order of insertion, a visited bit a block, and a hand that walks from old to new.

Zhang, Yang, Yue, Vigfusson, Rashmi: "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for Web
Caches", NSDI 2024.  A hit only sets the bit.  To evict, the hand clears bits until it meets a block without one, which
goes; new blocks enter at the front, survivors never move.  The hand stays where it stopped.

Differs from the paper: a pinned block is stepped over, its bit untouched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import Queues, back, is_sentinel, listed, new_queues, newer, push_front, remove
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    queue: Queues
    visited: np.ndarray  # uint8 (n_blocks,)
    hand: np.ndarray  # int64 [0]: next candidate; the sentinel means "start at the back"


def new_state(n_blocks, capacity, params, seed):
    return State(new_queues(n_blocks), np.zeros(n_blocks, np.uint8), np.array([n_blocks], np.int64))


@helper
def on_hit(state, frame, block, position, now):
    state.visited[block] = 1


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queue, 0, block)
    state.visited[block] = 0


@helper
def evict(state, frame, now):
    victim = state.hand[0]
    if is_sentinel(state.queue, victim):
        victim = back(state.queue, 0)
    while state.visited[victim] or is_pinned(frame, victim):
        if not is_pinned(frame, victim):
            state.visited[victim] = 0
        victim = newer(state.queue, victim)
        if is_sentinel(state.queue, victim):
            victim = back(state.queue, 0)
    state.hand[0] = newer(state.queue, victim)
    remove(state.queue, 0, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.queue, 0)) == np.flatnonzero(frame.resident).tolist()
    assert frame.resident[state.hand[0]] if state.hand[0] < len(frame.resident) else True


POLICY = Policy(
    "sieve",
    family="queue",
    paper="Zhang et al., SIEVE is Simpler than LRU, NSDI 2024",
    year=2024,
    new_state=new_state,
    replay=replay,
    check=check,
)
