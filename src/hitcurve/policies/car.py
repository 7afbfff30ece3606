"""CAR: ARC with clocks: a hit only sets a bit, and the two queues are put in order when a victim is needed.

Bansal, Modha: "CAR: Clock with Adaptive Replacement", FAST 2004.  T1 holds what was seen once, T2 what came back, both
in the order of a clock.  The victim is the first block without a bit: T1 is asked while it is at or over its target,
and its blocks with a bit move to T2; T2's go round again.  What T1 and T2 drop is remembered in B1 and B2; a return
from B1 raises the target, one from B2 lowers it, both enter T2.

Differs from the paper: the memories are trimmed when a block is dropped, not when one enters, so a long request can
leave B1 larger than the paper allows, by at most its own length.  The ratio that moves the target is a whole number.  A
pinned block is passed over, its bit untouched; a queue of pinned blocks leaves the victim to the other one; remembered
blocks of the arriving request are the last to be forgotten.
Differs from libCacheSim: B2 is trimmed, as in the paper (there it grows without limit: a huge ``known``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import capacity_of
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, forget_oldest, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

T1, T2, B1, B2, NOWHERE = range(5)


class Params(NamedTuple):
    known: float = 2.0  # blocks resident and remembered together, as a multiple of the capacity, at least 1


class State(NamedTuple):
    queues: Queues  # T1, T2, B1, B2
    place: np.ndarray  # uint8 (n_blocks,): the queue a block stands in, or NOWHERE
    used: np.ndarray  # uint8 (n_blocks,): the bit
    passed: np.ndarray  # int64 (4,): see kernels/walk.py
    target: np.ndarray  # int64 [0]: blocks that T1 should hold
    most: float  # blocks resident and remembered together


def new_state(n_blocks, capacity, params, seed):
    if not params.known >= 1:
        raise BadParameter(f"car: wanted known >= 1, found {params.known}")
    queues = new_queues(n_blocks, 4)
    place = np.full(n_blocks, NOWHERE, np.uint8)
    return State(
        queues, place, np.zeros(n_blocks, np.uint8), new_walk(queues), np.zeros(1, np.int64), params.known * capacity
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


@helper
def enter(state, q, block):
    push_front(state.queues, q, block)
    state.place[block] = q


@helper
def on_hit(state, frame, block, position, now):
    state.used[block] = 1


@helper
def on_insert(state, frame, block, position, now):
    place = state.place[block]
    if place != NOWHERE:
        adapt(state, place, capacity_of(frame))
        remove(state.queues, place, block)
    enter(state, T1 if place == NOWHERE else T2, block)
    state.used[block] = 0


@helper
def adapt(state, place, capacity):
    """Shift the target of T1 toward the queue whose memory was right."""
    n1, n2 = state.queues.size[B1], state.queues.size[B2]
    if place == B1:
        state.target[0] = min(state.target[0] + max(n2 // n1, 1), capacity)
    else:
        state.target[0] = max(state.target[0] - max(n1 // n2, 1), 0)


@helper
def first_unused(state, frame):
    """The block that goes, taken out of its queue; those before it have spent their bit."""
    while True:
        q = T1 if state.queues.size[T1] >= max(state.target[0], 1) or state.queues.size[T2] == 0 else T2
        block = oldest_unpinned(state.queues, state.passed, q, frame)
        if is_sentinel(state.queues, block):
            q = T1 + T2 - q
            block = oldest_unpinned(state.queues, state.passed, q, frame)
        remove(state.queues, q, block)
        if not state.used[block]:
            return block
        state.used[block] = 0
        enter(state, T2, block)


@part
def evict(state, frame, now):
    victim = first_unused(state, frame)
    size = state.queues.size
    enter(state, B1 if state.place[victim] == T1 else B2, victim)
    ghosts = B1 if size[T1] + size[B1] >= capacity_of(frame) else B2
    full = ghosts == B1 or size[T1] + size[T2] + size[B1] + size[B2] >= state.most
    if full and size[ghosts] > 0:
        state.place[forget_oldest(state.queues, state.passed, ghosts, frame)] = NOWHERE
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    queues = [listed(state.queues, q) for q in (T1, T2, B1, B2)]
    assert sorted(queues[T1] + queues[T2]) == np.flatnonzero(frame.resident).tolist()
    assert all(sorted(blocks) == np.flatnonzero(state.place == q).tolist() for q, blocks in enumerate(queues))
    assert 0 <= state.target[0] <= capacity_of(frame)
    assert sum(map(len, queues)) <= state.most + capacity_of(frame)


POLICY = Policy(
    "car",
    family="adaptive",
    paper="Bansal, Modha, CAR: Clock with Adaptive Replacement, FAST 2004",
    year=2004,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
