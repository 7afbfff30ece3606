"""2Q: a FIFO for what was seen once, an LRU for what came back, and the memory of what the FIFO dropped.

Johnson, Shasha: "2Q: A Low Overhead High Performance Buffer Management Replacement Algorithm", VLDB 1994.  A new block
enters the FIFO (A1in); a hit there changes nothing.  The FIFO's victims are remembered for a while (A1out), and a block
that returns in that time enters the LRU (Am).  The FIFO gives victims while it is over its share, else the LRU does.

Differs from the paper: nothing.  A pinned block is passed over; remembered blocks of the arriving request are the last
to be forgotten.
Differs from libCacheSim: a queue without an unpinned block leaves the victim to the other one (an empty LRU crashes
there); shares below one block are allowed, so every capacity works.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned, remember
from hitcurve.policies.policy import Policy

ONCE, AGAIN, GHOST, NOWHERE = range(4)  # A1in, Am, A1out


class Params(NamedTuple):
    once: float = 0.25  # share of the capacity for blocks seen once (Kin)
    ghost: float = 0.5  # blocks remembered, as a share of the capacity (Kout)


class State(NamedTuple):
    queues: Queues  # ONCE, AGAIN, GHOST
    place: np.ndarray  # uint8 (n_blocks,): the queue a block stands in, or NOWHERE
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    once_limit: int
    ghost_limit: int


def new_state(n_blocks, capacity, params, seed):
    if not (0 <= params.once <= 1 and params.ghost >= 0):
        raise BadParameter(f"twoq: wanted 0 <= once <= 1 and ghost >= 0, found {params}")
    queues = new_queues(n_blocks, 3)
    place = np.full(n_blocks, NOWHERE, np.uint8)
    return State(queues, place, new_walk(queues), int(capacity * params.once), int(capacity * params.ghost))


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


@helper
def on_hit(state, frame, block, position, now):
    if state.place[block] == AGAIN:
        move_to_front(state.queues, AGAIN, block)


@helper
def on_insert(state, frame, block, position, now):
    q = ONCE
    if state.place[block] == GHOST:
        remove(state.queues, GHOST, block)
        q = AGAIN
    push_front(state.queues, q, block)
    state.place[block] = q


@helper
def evict(state, frame, now):
    q = ONCE if state.queues.size[ONCE] > state.once_limit else AGAIN
    victim = oldest_unpinned(state.queues, state.passed, q, frame)
    if is_sentinel(state.queues, victim):
        q = ONCE + AGAIN - q
        victim = oldest_unpinned(state.queues, state.passed, q, frame)
    remove(state.queues, q, victim)
    state.place[victim] = NOWHERE
    if q == ONCE:
        remember(state.queues, state.passed, GHOST, state.ghost_limit, state.place, NOWHERE, victim, frame)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    once, again, ghost = (listed(state.queues, q) for q in (ONCE, AGAIN, GHOST))
    assert sorted(once + again) == np.flatnonzero(frame.resident).tolist()
    assert not frame.resident[ghost].any() and len(ghost) <= state.ghost_limit
    for q, blocks in ((ONCE, once), (AGAIN, again), (GHOST, ghost)):
        assert sorted(blocks) == np.flatnonzero(state.place == q).tolist()


POLICY = Policy(
    "twoq",
    family="queue",
    paper="Johnson, Shasha, 2Q: A Low Overhead High Performance Buffer Management Replacement Algorithm, VLDB 1994",
    year=1994,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
