"""FIFO-Merge: a hand walks over a FIFO; of each ``examine`` blocks it keeps the ``keep`` most often used, in place.

Yang, Yue, Rashmi: "Segcache: a memory-efficient and scalable in-memory key-value cache for small objects", NSDI 2021,
whose segments it merges block by block.  A hit counts, for as long as the block is resident.  Among equals of one
examination, chance decides.  While at most ``examine`` blocks are resident, the oldest is the victim.

Differs from the paper: single blocks instead of segments, victims given up one by one as room is needed, counts
neither decay nor reset.  A pinned block is not examined, and kept if it was; where fewer than ``examine`` blocks can
be, the same share of them is kept.
Differs from libCacheSim: of 100 examined blocks 50 go, not 49.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, back, is_sentinel, listed, new_queues, newer, push_front, remove
from hitcurve.kernels.rng import seeded, uniform
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

NEXT, END = 0, 1


class Params(NamedTuple):
    examine: int = 100  # blocks compared at a time
    keep: int = 50  # of them stay


class State(NamedTuple):
    queue: Queues
    hits: np.ndarray  # int32 (n_blocks,): hits since the block became resident
    passed: np.ndarray  # int64 (1,): see kernels/walk.py
    hand: np.ndarray  # int64 [0]: next block to examine; the sentinel means "start at the back"
    batch: np.ndarray  # int32 (examine,): blocks of the last examination, the least used first
    score: np.ndarray  # float64 (examine,): of those blocks
    rank: np.ndarray  # int64 (2,): batch[NEXT:END] are to go
    draws: np.ndarray  # see kernels/rng.py
    params: Params


def new_state(n_blocks, capacity, params, seed):
    if not 0 <= params.keep < params.examine:
        raise BadParameter(f"fifo-merge: wanted 0 <= keep < examine, found {params}")
    queue = new_queues(n_blocks)
    return State(
        queue,
        hits=np.zeros(n_blocks, np.int32),
        passed=new_walk(queue),
        hand=np.array([n_blocks], np.int64),
        batch=np.zeros(params.examine, np.int32),
        score=np.zeros(params.examine, np.float64),
        rank=np.zeros(2, np.int64),
        draws=seeded(seed),
        params=params,
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queue, state.passed)


@helper
def on_hit(state, frame, block, position, now):
    state.hits[block] += 1


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queue, 0, block)
    state.hits[block] = 0


@part
def examine(state, frame):
    """Fill the batch with the next unpinned blocks under the hand, in order of use."""
    n = 0
    for _ in range(state.queue.size[0]):
        block = state.hand[0]
        if is_sentinel(state.queue, block):
            block = back(state.queue, 0)
        state.hand[0] = newer(state.queue, block)
        if not is_pinned(frame, block):
            score = state.hits[block] + uniform(state.draws)
            place = n
            while place > 0 and state.score[place - 1] > score:
                state.batch[place] = state.batch[place - 1]
                state.score[place] = state.score[place - 1]
                place -= 1
            state.batch[place] = block
            state.score[place] = score
            n += 1
            if n == state.params.examine:
                break
    state.rank[NEXT] = 0
    state.rank[END] = n - n * state.params.keep // state.params.examine


@helper
def evict(state, frame, now):
    victim = np.int64(-1)
    if state.queue.size[0] <= state.params.examine:
        state.rank[NEXT] = state.rank[END]
        victim = oldest_unpinned(state.queue, state.passed, 0, frame)
    while victim < 0:
        if state.rank[NEXT] == state.rank[END]:
            examine(state, frame)
        block = np.int64(state.batch[state.rank[NEXT]])
        state.rank[NEXT] += 1
        if not is_pinned(frame, block):
            victim = block
    if victim == state.hand[0]:
        state.hand[0] = newer(state.queue, victim)
    remove(state.queue, 0, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.queue, 0)) == np.flatnonzero(frame.resident).tolist()
    assert frame.resident[state.batch[state.rank[NEXT] : state.rank[END]]].all()
    assert state.hand[0] == len(frame.resident) or frame.resident[state.hand[0]]


POLICY = Policy(
    "fifo-merge",
    family="queue",
    paper="Yang, Yue, Rashmi, Segcache, NSDI 2021",
    year=2021,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
