"""LIRS: keep the blocks whose last two accesses were close together; a small queue tries out all others.

Jiang, Zhang: "LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy to Improve Buffer Cache
Performance", SIGMETRICS 2002.  The stack orders blocks by last access, remembered ones among them, and ends at the
oldest LIR block.  A block seen again while it is in the stack becomes LIR, and the LIR block at the bottom becomes HIR.
Resident HIR blocks stand in a queue too; its oldest is the victim, and stays in the stack as remembered.

Differs from the paper: while there are too few LIR blocks, new blocks become LIR.  A hit on a block that is in the
queue alone makes the bottom LIR block HIR, as in libCacheSim.  All room for a request is made as for its first missing
block: if that one is remembered, each victim goes as though one more block became LIR.  The stack holds at most twice
the capacity: the block longest remembered leaves.  A pinned block in the queue is passed over, one at the bottom of the
stack, to be accessed next, moves to its top.
Differs from libCacheSim: a hit never evicts, the queue is one block too long until the next allocation instead; a
capacity of 1 is one LIR block.  libCacheSim 0.3.5 makes no progress in this loop, so the rules are those of PrefixSim.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import FIRST_MISSING, PIN, is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, back, is_sentinel, listed, move_to_front, new_queues, put, take
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

UNKNOWN, LIR, HIR, QUEUED, GHOST = range(5)  # HIR: in the stack and the queue; QUEUED: HIR in the queue alone
QUEUE, MEMORY = 0, 1


class Params(NamedTuple):
    hir: float = 0.01  # share of the capacity for HIR blocks, of which there is at least 1


class State(NamedTuple):
    stack: Queues  # one: LIR, HIR and GHOST blocks by last access
    queues: Queues  # QUEUE: HIR and QUEUED blocks; MEMORY: GHOST blocks
    kind: np.ndarray  # uint8 (n_blocks,)
    passed: np.ndarray  # int64 (2,): see kernels/walk.py
    n_lir: np.ndarray  # int64 [0]: LIR blocks
    asked: np.ndarray  # int64 [0]: victims of this allocation so far
    most_lir: int
    most_known: int  # blocks in the stack


def new_state(n_blocks, capacity, params, seed):
    if not 0 <= params.hir < 1:
        raise BadParameter(f"lirs: wanted 0 <= hir < 1, found {params.hir}")
    queues = new_queues(n_blocks, 2)
    return State(
        stack=new_queues(n_blocks),
        queues=queues,
        kind=np.full(n_blocks, UNKNOWN, np.uint8),
        passed=new_walk(queues),
        n_lir=np.zeros(1, np.int64),
        asked=np.zeros(1, np.int64),
        most_lir=max(1, capacity - max(1, int(capacity * params.hir))),
        most_known=2 * capacity,
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)
    state.asked[0] = 0


@part
def prune(state):
    """The stack ends at a LIR block (but keeps its top): what lies below has not been used for longer than any LIR."""
    block = back(state.stack, 0)
    while state.stack.size[0] > 1 and state.kind[block] != LIR:
        take(state.stack, 0, block)
        if state.kind[block] == GHOST:
            take(state.queues, MEMORY, block)
            state.kind[block] = UNKNOWN
        else:
            state.kind[block] = QUEUED
        block = back(state.stack, 0)


@part
def demote(state):
    """The LIR block at the bottom becomes HIR, the newest of the queue."""
    prune(state)
    block = back(state.stack, 0)
    take(state.stack, 0, block)
    put(state.queues, QUEUE, block)
    state.kind[block] = QUEUED
    state.n_lir[0] -= 1
    prune(state)


@part
def access(state, block):
    """A block that is not LIR is accessed: seen again while in the stack, it becomes LIR."""
    kind = state.kind[block]
    again = kind in (HIR, GHOST)
    if kind != UNKNOWN:
        take(state.queues, MEMORY if kind == GHOST else QUEUE, block)
    if again:
        take(state.stack, 0, block)
    full = state.n_lir[0] >= state.most_lir
    becomes_lir = again or (kind == UNKNOWN and not full)
    if not becomes_lir:
        put(state.queues, QUEUE, block)
    if full and kind != UNKNOWN:
        demote(state)
    put(state.stack, 0, block)
    state.kind[block] = LIR if becomes_lir else HIR
    state.n_lir[0] += becomes_lir
    while state.stack.size[0] > state.most_known:
        forgotten = back(state.queues, MEMORY)
        take(state.queues, MEMORY, forgotten)
        take(state.stack, 0, forgotten)
        state.kind[forgotten] = UNKNOWN


@helper
def on_hit(state, frame, block, position, now):
    if state.kind[block] == LIR:
        bottom = block == back(state.stack, 0)
        move_to_front(state.stack, 0, block)
        if bottom:
            prune(state)
    else:
        access(state, np.int64(block))


@helper
def on_insert(state, frame, block, position, now):
    access(state, np.int64(block))


@part
def raise_pinned(state, requested):
    """Pinned blocks at the bottom are about to be accessed."""
    block = back(state.stack, 0)
    while requested[block]:
        take(state.stack, 0, block)
        put(state.stack, 0, block)
        prune(state)
        block = back(state.stack, 0)


@helper
def evict(state, frame, now):
    prune(state)
    returning = state.kind[frame.numbers[FIRST_MISSING]] == GHOST and state.n_lir[0] + state.asked[0] >= state.most_lir
    state.asked[0] += 1
    if returning and state.n_lir[0] > 0 and not is_pinned(frame, back(state.stack, 0)):
        demote(state)
    victim = oldest_unpinned(state.queues, state.passed, QUEUE, frame)
    while is_sentinel(state.queues, victim):
        if frame.numbers[PIN]:
            raise_pinned(state, frame.requested)
        demote(state)
        victim = oldest_unpinned(state.queues, state.passed, QUEUE, frame)
    take(state.queues, QUEUE, victim)
    remembered = state.kind[victim] == HIR
    if remembered:
        put(state.queues, MEMORY, victim)
    state.kind[victim] = GHOST if remembered else UNKNOWN
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    stack, queue, memory = listed(state.stack, 0), listed(state.queues, QUEUE), listed(state.queues, MEMORY)
    lir, hir, queued, ghost = (np.flatnonzero(state.kind == kind).tolist() for kind in (LIR, HIR, QUEUED, GHOST))
    assert sorted(stack) == sorted(lir + hir + ghost)
    assert sorted(queue) == sorted(hir + queued)
    assert sorted(memory) == ghost
    assert sorted(lir + queue) == np.flatnonzero(frame.resident).tolist()
    assert len(lir) == state.n_lir[0] <= state.most_lir
    assert len(stack) <= state.most_known


POLICY = Policy(
    "lirs",
    family="adaptive",
    paper="Jiang, Zhang, LIRS: An Efficient Low Inter-reference Recency Set Replacement Policy, SIGMETRICS 2002",
    year=2002,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
