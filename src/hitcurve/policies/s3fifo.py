"""S3-FIFO: a small FIFO filters what is used once, a main FIFO keeps the rest, a ghost FIFO remembers the filtered.

Yang, Zhang, Qiu, Yue, Rashmi: "FIFO Queues Are All You Need for Cache Eviction", SOSP 2023.  A new block enters the
small queue, a remembered one the main queue; a hit only counts.  The small queue's oldest block goes to the main queue
if it was hit ``threshold`` times, else it is the victim and is remembered.  The main queue's oldest block goes round
again while its count, at most 3, lasts.  Victims come from the main queue while it is over its share.

Differs from the paper: the main queue is filled first: until the first eviction, new blocks enter it once the small
queue is full (as in libCacheSim since December 2024).  The small queue shrinks below its share only to feed the main
queue.  A pinned block is passed over; remembered blocks of the arriving request are the last to be forgotten.
Differs from libCacheSim: the small queue has at least 1 block, so capacities below 20 work (blocks are refused there);
a queue without an unpinned block leaves the victim to the other one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned, remember, take_spent
from hitcurve.policies.policy import Policy

SMALL, MAIN, GHOST = range(3)
MOST = 3  # turns of the main queue that hits can earn


class Params(NamedTuple):
    small: float = 0.1  # share of the capacity for the small queue
    ghost: float = 0.9  # blocks remembered, as a share of the capacity
    threshold: int = 2  # hits in the small queue that lead to the main queue, at most 255


class State(NamedTuple):
    queues: Queues  # SMALL, MAIN, GHOST
    counter: np.ndarray  # uint8 (n_blocks,): hits since the block entered its queue, less the turns they paid for
    ghost: np.ndarray  # uint8 (n_blocks,): GHOST for a remembered block, else 0
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    evicted: np.ndarray  # uint8 [0]: 1 after the first eviction
    threshold: int
    small_limit: int
    main_limit: int
    ghost_limit: int


def new_state(n_blocks, capacity, params, seed):
    if not (0 <= params.small <= 1 and params.ghost >= 0 and 0 <= params.threshold <= 255):
        raise BadParameter(f"s3fifo: wanted 0 <= small <= 1, ghost >= 0 and 0 <= threshold <= 255, found {params}")
    queues = new_queues(n_blocks, 3)
    small = max(1, int(capacity * params.small))
    return State(
        queues,
        counter=np.zeros(n_blocks, np.uint8),
        ghost=np.zeros(n_blocks, np.uint8),
        passed=new_walk(queues),
        evicted=np.zeros(1, np.uint8),
        threshold=params.threshold,
        small_limit=small,
        main_limit=capacity - small,
        ghost_limit=int(capacity * params.ghost),
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)
    state.evicted[0] = 1


@helper
def on_hit(state, frame, block, position, now):
    if state.counter[block] < max(state.threshold, MOST):
        state.counter[block] += 1


@helper
def on_insert(state, frame, block, position, now):
    q = SMALL
    if state.ghost[block]:
        remove(state.queues, GHOST, block)
        state.ghost[block] = 0
        q = MAIN
    elif state.evicted[0] == 0 and state.queues.size[SMALL] >= state.small_limit:
        q = MAIN
    push_front(state.queues, q, block)
    state.counter[block] = 0


@helper
def evict_small(state, frame):
    """A victim of the small queue, its earlier blocks promoted; -1 when it ends first."""
    while True:
        block = oldest_unpinned(state.queues, state.passed, SMALL, frame)
        if is_sentinel(state.queues, block):
            return -1
        remove(state.queues, SMALL, block)
        if state.counter[block] < state.threshold:
            remember(state.queues, state.passed, GHOST, state.ghost_limit, state.ghost, 0, block, frame)
            return block
        push_front(state.queues, MAIN, block)
        state.counter[block] = 0


@helper
def evict(state, frame, now):
    from_main = state.queues.size[MAIN] > state.main_limit
    victim = -1
    while victim < 0:
        if from_main:
            victim = take_spent(state.queues, state.passed, MAIN, state.counter, MOST, frame)
        else:
            victim = evict_small(state, frame)
        from_main = not from_main
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    small, main, ghost = (listed(state.queues, q) for q in (SMALL, MAIN, GHOST))
    assert sorted(small + main) == np.flatnonzero(frame.resident).tolist()
    assert sorted(ghost) == np.flatnonzero(state.ghost).tolist()
    assert not frame.resident[ghost].any() and len(ghost) <= state.ghost_limit


POLICY = Policy(
    "s3fifo",
    family="queue",
    paper="Yang et al., FIFO Queues Are All You Need for Cache Eviction, SOSP 2023",
    year=2023,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
