"""S3-FIFO by compute: a hit on a block counts for as much as the block costs to compute.

After Yang, Zhang, Qiu, Yue, Rashmi: "FIFO Queues Are All You Need for Cache Eviction", SOSP 2023.  A small FIFO filters
new blocks, a main FIFO keeps the rest, a ghost FIFO remembers the filtered.  The oldest block of a queue passes its
gate if its hits times its cost reach the mean cost of the resident blocks (``threshold`` times that, in the small
queue): from the small queue it moves to the main queue, in the main queue it goes round again, at most 3 times.

Differs from the paper: the gates weigh hits by cost; with equal costs this is ``s3fifo`` with the same threshold.  The
main queue is filled first, as in ``s3fifo``.  A pinned block is passed over; remembered blocks of the arriving request
are the last to be forgotten.
Differs from PrefixSim: there a gate multiplies by the cost of the request that needs room, not of the block, and
compares with a plain number, so any cost from 1 up opens every gate and nothing is ever remembered.  The small queue
has at least 1 block; a queue without an unpinned block leaves the victim to the other one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import OCCUPIED
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned, remember
from hitcurve.policies.policy import Policy

SMALL, MAIN, GHOST = range(3)
MOST = 3  # turns of the main queue that hits can earn


class Params(NamedTuple):
    small: float = 0.1  # share of the capacity for the small queue
    ghost: float = 0.9  # blocks remembered, as a share of the capacity
    threshold: int = 1  # hits on a block of mean cost that open the gate of the small queue, at most 255


class State(NamedTuple):
    queues: Queues  # SMALL, MAIN, GHOST
    counter: np.ndarray  # uint8 (n_blocks,): hits since the block entered its queue, less the turns they paid for
    cost: np.ndarray  # int64 (n_blocks,): of a resident block, when it was inserted
    total_cost: np.ndarray  # int64 [0]: of all resident blocks
    ghost: np.ndarray  # uint8 (n_blocks,): GHOST for a remembered block, else 0
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    evicted: np.ndarray  # uint8 [0]: 1 after the first eviction
    threshold: int
    small_limit: int
    main_limit: int
    ghost_limit: int


def new_state(n_blocks, capacity, params, seed):
    if not (0 <= params.small <= 1 and params.ghost >= 0 and 0 <= params.threshold <= 255):
        raise BadParameter(
            f"s3fifo_compute: wanted 0 <= small <= 1, ghost >= 0 and 0 <= threshold <= 255, found {params}"
        )
    queues = new_queues(n_blocks, 3)
    small = max(1, int(capacity * params.small))
    return State(
        queues,
        counter=np.zeros(n_blocks, np.uint8),
        cost=np.zeros(n_blocks, np.int64),
        total_cost=np.zeros(1, np.int64),
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
    if state.counter[block] < 255:
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
    state.cost[block] = frame.cost[position]
    state.total_cost[0] += frame.cost[position]


@helper
def is_worth(state, frame, block, hits):
    """Did the block's hits save what ``hits`` hits on a block of mean cost would?"""
    return state.counter[block] * state.cost[block] * frame.numbers[OCCUPIED] >= hits * state.total_cost[0]


@helper
def evict_small(state, frame):
    """A victim of the small queue, its earlier blocks promoted; -1 when it ends first."""
    while True:
        block = oldest_unpinned(state.queues, state.passed, SMALL, frame)
        if is_sentinel(state.queues, block):
            return -1
        remove(state.queues, SMALL, block)
        if not is_worth(state, frame, block, state.threshold):
            remember(state.queues, state.passed, GHOST, state.ghost_limit, state.ghost, 0, block, frame)
            return block
        push_front(state.queues, MAIN, block)
        state.counter[block] = 0


@helper
def evict_main(state, frame):
    """A victim of the main queue, or -1."""
    while True:
        block = oldest_unpinned(state.queues, state.passed, MAIN, frame)
        if is_sentinel(state.queues, block):
            return -1
        if state.counter[block] == 0 or not is_worth(state, frame, block, 1):
            remove(state.queues, MAIN, block)
            return block
        state.counter[block] = min(state.counter[block], MOST) - 1
        move_to_front(state.queues, MAIN, block)


@helper
def evict(state, frame, now):
    from_main = state.queues.size[MAIN] > state.main_limit
    victim = -1
    while victim < 0:
        victim = evict_main(state, frame) if from_main else evict_small(state, frame)
        from_main = not from_main
    state.total_cost[0] -= state.cost[victim]
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    small, main, ghost = (listed(state.queues, q) for q in (SMALL, MAIN, GHOST))
    assert sorted(small + main) == np.flatnonzero(frame.resident).tolist()
    assert sorted(ghost) == np.flatnonzero(state.ghost).tolist()
    assert state.total_cost[0] == state.cost[small + main].sum()
    assert not frame.resident[ghost].any() and len(ghost) <= state.ghost_limit


POLICY = Policy(
    "s3fifo_compute",
    family="cost-aware",
    paper="Yang et al., FIFO Queues Are All You Need for Cache Eviction, SOSP 2023",
    year=2023,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost"}),
)
