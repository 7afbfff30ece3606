"""LFUDA: LFU whose counts grow with the age of the cache, so that blocks popular long ago leave in the end.

Arlitt, Cherkasova, Dilley, Friedrich, Jin: "Evaluating Content Management Techniques for Web Proxy Caches", WISP 1999.
A new block gets the rank ``age + 1``, a hit adds ``age``; age is the rank of the last victim, and moves on to the next
rank in use when its own has no block left.  The victim has the lowest rank from age on; among equals, the block longest
at its rank goes first.

Differs from the paper: a hit adds the age instead of computing ``count + age`` (as libCacheSim does), so before the
first eviction a hit only renews the block's place among equals.  A hit can leave a block below the age when the age
moves past it; such blocks go last.  A pinned block is set aside during the allocation.
Differs from libCacheSim: with no rank from age on, the lowest below gives the victim and the age stays (a crash there).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.heap import TIE, Heap, first, listed, new_heap, push, remove
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy

BELOW = 2**62  # added to the key of a block whose rank is below the age


class State(NamedTuple):
    heap: Heap  # by key_of, then by touch; a block that was hit keeps its old place until it comes to the top
    rank: np.ndarray  # int64 (n_blocks,)
    touched: np.ndarray  # int64 (n_blocks,): the access that gave the block its rank
    age: np.ndarray  # int64 [0]
    aside: np.ndarray  # int32 (most resident blocks,): pinned blocks, from low to high
    n_aside: np.ndarray  # int64 [0]


def new_state(n_blocks, capacity, params, seed):
    return State(
        new_heap(n_blocks, capacity),
        rank=np.zeros(n_blocks, np.int64),
        touched=np.zeros(n_blocks, np.int64),
        age=np.zeros(1, np.int64),
        aside=np.zeros(min(n_blocks, capacity), np.int32),
        n_aside=np.zeros(1, np.int64),
    )


@helper
def key_of(state, block):
    return state.rank[block] if state.rank[block] >= state.age[0] else state.rank[block] + BELOW


@entry
def enter(state, block):
    push(state.heap, block, key_of(state, block), state.touched[block])


@entry
def freshen(state):
    """Bring the block that comes first to the top; at most one step for each hit so far."""
    while state.heap.slots[0] > 0:
        block = first(state.heap)
        if state.heap.keys[block, TIE] == state.touched[block]:
            break
        remove(state.heap, block)
        enter(state, block)


@helper
def bring_back(state):
    """The allocation is over."""
    for i in range(state.n_aside[0]):
        enter(state, np.int64(state.aside[i]))
    state.n_aside[0] = 0


@helper
def move_on(state):
    """Let the age go to the next rank in use, where no block has the rank that is the age."""
    freshen(state)
    if state.heap.slots[0] > 0:
        state.age[0] = max(state.age[0], state.rank[first(state.heap)])


@entry
def renew(state, block, now):
    """A hit on a block whose rank is the age, or below: the only ones that need the heap at once."""
    remove(state.heap, block)
    rank = state.rank[block]
    state.rank[block] = rank + state.age[0]
    state.touched[block] = now
    if rank == state.age[0]:
        move_on(state)
    enter(state, block)


@helper
def on_hit(state, frame, block, position, now):
    if state.n_aside[0] > 0:
        bring_back(state)
    if state.rank[block] <= state.age[0]:
        renew(state, block, now)
    else:
        state.rank[block] += state.age[0]
        state.touched[block] = now


@helper
def on_insert(state, frame, block, position, now):
    if state.n_aside[0] > 0:
        bring_back(state)
    state.rank[block] = state.age[0] + 1
    state.touched[block] = now
    enter(state, block)


@helper
def evict(state, frame, now):
    while True:
        freshen(state)
        victim = first(state.heap)
        remove(state.heap, victim)
        if not is_pinned(frame, victim):
            break
        state.aside[state.n_aside[0]] = victim
        state.n_aside[0] += 1
    if state.rank[victim] >= state.age[0]:
        state.age[0] = state.rank[victim]
        if state.n_aside[0] == 0 or state.rank[state.aside[state.n_aside[0] - 1]] < state.age[0]:
            move_on(state)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    blocks = [block for _, _, block in listed(state.heap)] + state.aside[: state.n_aside[0]].tolist()
    assert sorted(blocks) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "lfuda",
    family="frequency",
    paper="Arlitt et al., Evaluating Content Management Techniques for Web Proxy Caches, WISP 1999",
    year=1999,
    new_state=new_state,
    replay=replay,
    check=check,
)
