"""W-TinyLFU: a block leaves the small window for the main cache only if it was used more often than the main's victim.

Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission Policy", ACM Transactions on Storage 13(4),
2017.  New blocks enter the window, an LRU queue; the main cache is a segmented LRU, a hit lifts a block from probation
to protection.  While the main cache has room, the window's oldest block moves there.  Else a sketch of past uses
compares it with the main cache's victim, the oldest on probation: the one used more often stays, the other is the
victim; on a tie the window's block goes.

Differs from the paper: the sketch is a counting Bloom filter without a doorkeeper, and counts as libCacheSim's does:
hits of the main cache, insertions, and every comparison or move of a window block, not hits of the window; counters are
halved after 32 main hits a block of the main cache.  The window exceeds its share between a request's arrival, which
brings all its blocks at once, and the next eviction.  A pinned block is passed over.
Differs from libCacheSim: a main block that lost is a victim like any other (there eviction goes on until a window block
loses); the window has at least 1 block, so capacities below 100 work (blocks are refused there), and the main cache has
none at capacity 1: the window's block is then the victim.  A window without an unpinned block leaves the victim to the
main cache, probation to protection, the main cache to the window.  Probation takes what the shares leave over, other
numbers place a block's counters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    is_sentinel,
    link_front,
    listed,
    move_to_front,
    new_queues,
    push_front,
    remove,
    unlink,
)
from hitcurve.kernels.sketch import Sketch, add, age, estimate, new_sketch
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

WINDOW, PROBATION, PROTECTED = range(3)
AGE = 32  # main hits between halvings, a block of the main cache


class Params(NamedTuple):
    window: float = 0.01  # share of the capacity for the window
    protected: float = 0.8  # share of the main cache for its protected segment


class State(NamedTuple):
    queues: Queues  # WINDOW, PROBATION, PROTECTED
    place: np.ndarray  # uint8 (n_blocks,): queue of a resident block
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    sketch: Sketch
    probation_limit: int
    protected_limit: int


def new_state(n_blocks, capacity, params, seed):
    if not (0 <= params.window <= 1 and 0 <= params.protected <= 1):
        raise BadParameter(f"wtinylfu: wanted 0 <= window <= 1 and 0 <= protected <= 1, found {params}")
    queues = new_queues(n_blocks, 3)
    main = capacity - max(1, int(capacity * params.window))
    protected = int(main * params.protected)
    return State(
        queues,
        place=np.zeros(n_blocks, np.uint8),
        passed=new_walk(queues),
        sketch=new_sketch(min(main, n_blocks)),  # nothing is ever evicted where main > n_blocks
        probation_limit=main - protected,
        protected_limit=protected,
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


@helper
def on_hit(state, frame, block, position, now):
    queues, place = state.queues, state.place[block]
    if place == WINDOW:
        move_to_front(queues, WINDOW, block)
        return
    add(state.sketch, np.int64(block))
    age(state.sketch, AGE * (state.probation_limit + state.protected_limit))
    unlink(queues, block)
    link_front(queues, PROTECTED, block)
    if place == PROTECTED:
        return
    state.place[block] = PROTECTED
    if queues.size[PROTECTED] < state.protected_limit:
        queues.size[PROTECTED] += 1
        queues.size[PROBATION] -= 1
    else:
        sunk = back(queues, PROTECTED)
        unlink(queues, sunk)
        link_front(queues, PROBATION, sunk)
        state.place[sunk] = PROBATION


@helper
def on_insert(state, frame, block, position, now):
    add(state.sketch, np.int64(block))
    push_front(state.queues, WINDOW, block)
    state.place[block] = WINDOW


@helper
def admit(state, block):
    """A block of the window moves to the main cache, which has room."""
    q = PROBATION if state.queues.size[PROBATION] < state.probation_limit else PROTECTED
    remove(state.queues, WINDOW, block)
    push_front(state.queues, q, block)
    state.place[block] = q


@helper
def main_victim(state, frame):
    """The main cache's next victim, or a sentinel."""
    block = oldest_unpinned(state.queues, state.passed, PROBATION, frame)
    if is_sentinel(state.queues, block):
        block = oldest_unpinned(state.queues, state.passed, PROTECTED, frame)
    return block


@helper
def evict(state, frame, now):
    queues = state.queues
    main_limit = state.probation_limit + state.protected_limit
    while True:
        newcomer = oldest_unpinned(queues, state.passed, WINDOW, frame)
        waits = not is_sentinel(queues, newcomer)
        if waits:
            add(state.sketch, newcomer)
        if not waits or queues.size[PROBATION] + queues.size[PROTECTED] >= main_limit:
            break
        admit(state, newcomer)
    victim = main_victim(state, frame)
    wins = (
        waits and not is_sentinel(queues, victim) and estimate(state.sketch, newcomer) > estimate(state.sketch, victim)
    )
    if waits and not wins:
        victim = newcomer
    remove(queues, state.place[victim], victim)
    if wins:
        admit(state, newcomer)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    window, probation, protected = (listed(state.queues, q) for q in (WINDOW, PROBATION, PROTECTED))
    assert sorted(window + probation + protected) == np.flatnonzero(frame.resident).tolist()
    for q, blocks in enumerate((window, probation, protected)):
        assert (state.place[blocks] == q).all()
    assert len(probation) <= state.probation_limit and len(protected) <= state.protected_limit


POLICY = Policy(
    "wtinylfu",
    family="frequency",
    paper="Einziger, Friedman, Manes, TinyLFU: A Highly Efficient Cache Admission Policy, ACM TOS 2017",
    year=2017,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
