"""QDLP: quick demotion by a small FIFO in front of a main CLOCK, and a ghost FIFO that remembers what it demoted.

Yang, Qiu, Zhang, Yue, Rashmi: "FIFO can be Better than LRU: the Power of Lazy Promotion and Quick Demotion", HotOS
2023.  A new block enters the small queue, a remembered one the main queue; a hit only counts.  The small queue's oldest
block goes to the main queue if it was hit ``threshold`` times, else it is the victim and is remembered.  A full main
queue gives up a block for each that enters; its oldest goes round again while its count, at most 3, lasts.

Differs from the paper: nothing.  A pinned block is passed over; remembered blocks of the arriving request are the last
to be forgotten.
Differs from libCacheSim: a remembered block that returns while the main queue is full enters above the limit, and the
next victims come from there (libCacheSim evicts inside the access, unseen by the request loop); the small queue has at
least 1 block, so capacities below 20 work; a queue without an unpinned block leaves the victim to the other one.
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
MOST = 3  # turns of the main queue that hits can earn: a 2-bit CLOCK


class Params(NamedTuple):
    small: float = 0.1  # share of the capacity for the small queue
    ghost: float = 0.9  # blocks remembered, as a share of the capacity
    threshold: int = 1  # hits in the small queue that lead to the main queue, at most 255


class State(NamedTuple):
    queues: Queues  # SMALL, MAIN, GHOST
    counter: np.ndarray  # uint8 (n_blocks,): hits since the block entered its queue, less the turns they paid for
    ghost: np.ndarray  # uint8 (n_blocks,): GHOST for a remembered block, else 0
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    threshold: int
    main_limit: int
    ghost_limit: int


def new_state(n_blocks, capacity, params, seed):
    if not (0 <= params.small <= 1 and params.ghost >= 0 and 0 <= params.threshold <= 255):
        raise BadParameter(f"qdlp: wanted 0 <= small <= 1, ghost >= 0 and 0 <= threshold <= 255, found {params}")
    queues = new_queues(n_blocks, 3)
    return State(
        queues,
        counter=np.zeros(n_blocks, np.uint8),
        ghost=np.zeros(n_blocks, np.uint8),
        passed=new_walk(queues),
        threshold=params.threshold,
        main_limit=capacity - max(1, int(capacity * params.small)),
        ghost_limit=int(capacity * params.ghost),
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


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
    push_front(state.queues, q, block)
    state.counter[block] = 0


@helper
def evict(state, frame, now):
    main_goes_first = state.queues.size[MAIN] > state.main_limit
    while True:
        block = oldest_unpinned(state.queues, state.passed, SMALL, frame)
        from_small = not main_goes_first and not is_sentinel(state.queues, block)
        if from_small:
            remove(state.queues, SMALL, block)
            if state.counter[block] < state.threshold:
                remember(state.queues, state.passed, GHOST, state.ghost_limit, state.ghost, 0, block, frame)
                return block
        victim = -1
        if not from_small or state.queues.size[MAIN] >= state.main_limit:
            victim = take_spent(state.queues, state.passed, MAIN, state.counter, MOST, frame)
        if from_small:
            push_front(state.queues, MAIN, block)
            state.counter[block] = 0
        if victim >= 0:
            return victim
        main_goes_first = False


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    small, main, ghost = (listed(state.queues, q) for q in (SMALL, MAIN, GHOST))
    assert sorted(small + main) == np.flatnonzero(frame.resident).tolist()
    assert sorted(ghost) == np.flatnonzero(state.ghost).tolist()
    assert not frame.resident[ghost].any() and len(ghost) <= state.ghost_limit


POLICY = Policy(
    "qdlp",
    family="queue",
    paper="Yang et al., FIFO can be Better than LRU, HotOS 2023",
    year=2023,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
