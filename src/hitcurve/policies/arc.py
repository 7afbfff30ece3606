"""ARC: two LRU queues, seen once and seen again, and the memory of what left each to shift the room between them.

Megiddo, Modha: "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003.  A new block enters T1, every hit moves
a block to the front of T2.  What T1 gives up is remembered in B1, what T2 gives up in B2.  A block that returns from B1
raises the target size of T1, one that returns from B2 lowers it; both enter T2.  T1 gives the victim while it is over
its target.

Differs from the paper: room is made before the returning blocks of a request are looked up, so a return from B2 never
tips the choice where T1 is exactly at its target, and a long request can leave the memories larger than the paper
allows, by at most its own length.  A pinned block is passed over, a list of pinned blocks leaves the victim to the
other one; remembered blocks of the arriving request are the last to be forgotten.
Differs from libCacheSim: nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.frame import capacity_of
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, forget_oldest, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

T1, T2, B1, B2, NOWHERE = range(5)


class State(NamedTuple):
    queues: Queues  # T1, T2, B1, B2
    place: np.ndarray  # uint8 (n_blocks,): the queue a block stands in, or NOWHERE
    passed: np.ndarray  # int64 (4,): see kernels/walk.py
    target: np.ndarray  # float64 [0]: blocks that T1 should hold


def new_state(n_blocks, capacity, params, seed):
    queues = new_queues(n_blocks, 4)
    return State(queues, np.full(n_blocks, NOWHERE, np.uint8), new_walk(queues), np.zeros(1))


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


@helper
def enter(state, q, block):
    push_front(state.queues, q, block)
    state.place[block] = q


@helper
def on_hit(state, frame, block, position, now):
    if state.place[block] == T2:
        move_to_front(state.queues, T2, block)
    else:
        remove(state.queues, T1, block)
        enter(state, T2, block)


@helper
def on_insert(state, frame, block, position, now):
    place = state.place[block]
    if place != NOWHERE:
        adapt(state, place, capacity_of(frame))
        remove(state.queues, place, block)
    enter(state, T1 if place == NOWHERE else T2, block)


@helper
def adapt(state, place, capacity):
    """Shift the target of T1 toward the queue whose memory was right."""
    n1, n2 = state.queues.size[B1], state.queues.size[B2]
    if place == B1:
        state.target[0] = min(state.target[0] + max(n2 / n1, 1.0), float(capacity))
    else:
        state.target[0] = max(state.target[0] - max(n1 / n2, 1.0), 0.0)


@part
def evict(state, frame, now):
    capacity = capacity_of(frame)
    size = state.queues.size
    over = size[T1] + size[B1] >= capacity
    if size[B1] > 0 if over else size[B2] > 0 and size[T1] + size[T2] + size[B1] + size[B2] >= 2 * capacity:
        state.place[forget_oldest(state.queues, state.passed, B1 if over else B2, frame)] = NOWHERE
        over = False
    q = T1 if size[T1] > state.target[0] or size[T2] == 0 or over else T2
    victim = oldest_unpinned(state.queues, state.passed, q, frame)
    if is_sentinel(state.queues, victim):
        q = T1 + T2 - q
        victim = oldest_unpinned(state.queues, state.passed, q, frame)
    remove(state.queues, q, victim)
    state.place[victim] = NOWHERE
    if not over:
        enter(state, B1 + q, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    queues = [listed(state.queues, q) for q in (T1, T2, B1, B2)]
    assert sorted(queues[T1] + queues[T2]) == np.flatnonzero(frame.resident).tolist()
    assert all(sorted(blocks) == np.flatnonzero(state.place == q).tolist() for q, blocks in enumerate(queues))
    assert 0 <= state.target[0] <= capacity_of(frame)
    assert sum(map(len, queues)) <= 3 * capacity_of(frame)


POLICY = Policy(
    "arc",
    family="adaptive",
    paper="Megiddo, Modha, ARC: A Self-Tuning, Low Overhead Replacement Cache, FAST 2003",
    year=2003,
    new_state=new_state,
    replay=replay,
    check=check,
)
