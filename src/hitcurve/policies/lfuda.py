"""LFUDA: LFU whose counts grow with the age of the cache, so that blocks popular long ago leave in the end.

Arlitt, Cherkasova, Dilley, Friedrich, Jin: "Evaluating Content Management Techniques for Web Proxy Caches", WISP 1999.
A new block gets the rank ``age + 1``, a hit adds ``age``; age is the rank of the last victim, and moves on to the next
rank in use when its own has no block left.  The victim has the lowest rank from age on; among equals, the block longest
at its rank goes first.

Differs from the paper: a hit adds the age instead of computing ``count + age`` (as libCacheSim does), so before the
first eviction a hit only renews the block's place among equals.  A hit can leave a block below the age when the age
moves past it; such blocks go last.  A pinned block is passed over.
Differs from libCacheSim: with no rank from age on, the lowest below gives the victim and the age stays (a crash there).
Age and ranks double each time the cache turns over and leave its whole numbers of 64 bits soon; here they are floats,
exact to 2**53 and then rounded, and all are scaled down by a power of two before they grow too large.

Blocks that reach one rank in a row stand in a queue of their own, the queues in a heap by rank and by time of opening:
a hit is a move from queue to queue, and only where it opens or closes one it costs O(log queues).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.heap import Heap, first, new_heap, push
from hitcurve.kernels.heap import listed as listed_heap
from hitcurve.kernels.heap import remove as remove_queue
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, new_queues, newer, push_front, remove, sentinel
from hitcurve.policies.policy import Policy

CLOSED = -1.0  # rank of a queue without blocks
LARGEST, SCALE = 2.0**512, 2.0**-256
LATEST, N_CLOSED, N_ASIDE, WALKED, PASSED = range(5)  # places in ``numbers``


class State(NamedTuple):
    queues: Queues  # at most one a resident block
    queue: np.ndarray  # int32 (n_blocks,): the queue of a resident block
    rank: np.ndarray  # float64 (queues,): of all blocks in a queue
    heap: Heap  # the queues in use, but for those set aside
    closed: np.ndarray  # int32 (queues,): a stack of those not in use
    aside: np.ndarray  # int32 (queues,): where this allocation found pinned blocks only, from low to high
    age: np.ndarray  # float64 [0]
    numbers: np.ndarray  # int64: queue that the last block went to, height of the stack, queues aside, and of this
    #                      allocation the queue walked last and its last pinned block passed (the sentinel: none)


def new_state(n_blocks, capacity, params, seed):
    room = min(n_blocks, capacity)
    return State(
        new_queues(n_blocks, room),
        queue=np.zeros(n_blocks, np.int32),
        rank=np.full(room, CLOSED),
        heap=new_heap(room, room),
        closed=np.arange(room, dtype=np.int32)[::-1].copy(),
        aside=np.zeros(room, np.int32),
        age=np.zeros(1),
        numbers=np.array([0, room, 0, -1, 0], np.int64),
    )


@helper
def key_of(state, rank):
    """Ranks from the age on before those below; the bits of floats that are not negative are ordered as they are."""
    bits = np.float64(rank).view(np.int64)
    return bits + np.int64(-(2**63)) if rank >= state.age[0] else bits


@part
def open_queue(state, rank, now):
    q = np.int64(state.closed[state.numbers[N_CLOSED] - 1])
    state.numbers[N_CLOSED] -= 1
    state.numbers[LATEST] = q
    state.rank[q] = rank
    push(state.heap, q, key_of(state, rank), now)
    return q


@part
def close_queue(state, q):
    """Queue q has lost its last block.  Where that leaves no block of the rank that is the age, the age moves on."""
    rank = state.rank[q]
    remove_queue(state.heap, q)
    state.rank[q] = CLOSED
    state.closed[state.numbers[N_CLOSED]] = q
    state.numbers[N_CLOSED] += 1
    n = state.numbers[N_ASIDE]
    if rank == state.age[0] and state.heap.slots[0] > 0 and (n == 0 or state.rank[state.aside[n - 1]] < rank):
        state.age[0] = max(rank, state.rank[first(state.heap)])


@helper
def leave(state, block):
    q = np.int64(state.queue[block])
    remove(state.queues, q, block)
    if state.queues.size[q] == 0:
        close_queue(state, q)


@helper
def enter(state, block, rank, now):
    q = state.numbers[LATEST]
    if state.rank[q] != rank:
        q = open_queue(state, rank, now)
    push_front(state.queues, q, block)
    state.queue[block] = q


@helper
def on_hit(state, frame, block, position, now):
    rank = state.rank[state.queue[block]] + state.age[0]
    leave(state, block)
    enter(state, block, rank, now)


@helper
def on_insert(state, frame, block, position, now):
    enter(state, block, state.age[0] + 1, now)


@part
def scale_down(state):
    """Make age and ranks small enough to go on growing; a power of two rounds nothing."""
    state.age[0] *= SCALE
    for q in range(len(state.rank)):
        if state.rank[q] != CLOSED:
            state.rank[q] *= SCALE
            state.heap.keys[q].key = key_of(state, state.rank[q])
    for slot in range(state.heap.slots[0]):
        state.heap.nodes[slot].key = state.heap.keys[state.heap.nodes[slot].block].key


@helper
def on_allocate(state, frame, now):
    state.numbers[WALKED] = -1
    if state.age[0] > LARGEST:
        scale_down(state)


@part
def evict(state, frame, now):
    numbers = state.numbers
    while True:
        q = first(state.heap)
        if numbers[WALKED] != q:
            numbers[WALKED], numbers[PASSED] = q, sentinel(state.queues, q)
        victim = newer(state.queues, numbers[PASSED])
        while not is_sentinel(state.queues, victim) and is_pinned(frame, victim):
            numbers[PASSED] = victim
            victim = newer(state.queues, victim)
        if not is_sentinel(state.queues, victim):
            break
        remove_queue(state.heap, q)
        state.aside[numbers[N_ASIDE]] = q
        numbers[N_ASIDE] += 1
    state.age[0] = max(state.age[0], state.rank[q])
    leave(state, victim)
    return victim


@helper
def bring_back(state, frame, now):
    """The allocation is over."""
    for i in range(state.numbers[N_ASIDE]):
        q = np.int64(state.aside[i])
        push(state.heap, q, key_of(state, state.rank[q]), state.heap.keys[q].tie)
    state.numbers[N_ASIDE] = 0


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict, on_path=bring_back)


def check(state, frame):
    blocks = []
    for q in (q for _, _, q in listed_heap(state.heap)):
        blocks += listed(state.queues, q)
        assert state.queues.size[q] > 0 and state.rank[q] >= 0
    assert sorted(blocks) == np.flatnonzero(frame.resident).tolist()
    assert (state.rank != CLOSED).sum() == len(state.rank) - state.numbers[N_CLOSED]


POLICY = Policy(
    "lfuda",
    family="frequency",
    paper="Arlitt et al., Evaluating Content Management Techniques for Web Proxy Caches, WISP 1999",
    year=1999,
    new_state=new_state,
    replay=replay,
    check=check,
)
