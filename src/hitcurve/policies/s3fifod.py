"""S3-FIFO with a moving border: what returns soon after it left decides which of the two queues should grow.

Yang, Zhang, Qiu, Yue, Rashmi: "FIFO Queues Are All You Need for Cache Eviction", SOSP 2023, section 6.  New blocks
enter a small FIFO, remembered ones the main queue, a 2-bit CLOCK.  The small queue's oldest block moves to the main
queue if it was hit, else it is the victim and is remembered.  Two short lists hold what each queue evicted last; once
more than 100 blocks returned from them, the queue that lost more than twice as many grows by 1/1000 of the smaller.

Differs from the paper: the main queue is a CLOCK, one hit is enough to get there, both counts of returns keep four
fifths after each step, and they start anew while nothing was evicted from the main queue lately.  The memory grows and
shrinks with the small queue.  A pinned block is passed over; remembered blocks of the arriving request are the last to
be forgotten.
Differs from libCacheSim: a main queue over its share gives the next victims (there a remembered block that returns
evicts from it at once, inside the access); the small queue has at least 1 block; a queue without an unpinned block
leaves the victim to the other one; the hits of a block are not read after it is gone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import capacity_of
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, back, is_sentinel, listed, new_queues, push_front, put, take
from hitcurve.kernels.walk import begin_walk, forget_oldest, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

SMALL, MAIN, GHOST = range(3)
NOWHERE = 2
MOST = 3  # of the main queue's counter
ENOUGH = 100  # returns to decide on


class Params(NamedTuple):
    small: float = 0.1  # share of the capacity for the small queue, to begin with
    threshold: int = 1  # hits in the small queue that lead to the main queue, at most 255
    recent: float = 0.1  # blocks evicted lately, of each queue, as a share of the capacity


class State(NamedTuple):
    queues: Queues  # SMALL, MAIN, GHOST
    evicted: Queues  # blocks that left SMALL, MAIN lately
    counter: np.ndarray  # uint8 (n_blocks,): hits since the block entered its queue, less the turns they paid for
    ghost: np.ndarray  # uint8 (n_blocks,): 1 for a remembered block
    left: np.ndarray  # uint8 (n_blocks,): SMALL or MAIN for a block evicted lately, else NOWHERE
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    share: np.ndarray  # int64 (3,): blocks that SMALL, MAIN, GHOST should hold
    returns: np.ndarray  # int64 (2,): how many that left SMALL, MAIN lately have returned
    threshold: int
    recent: int


def new_state(n_blocks, capacity, params, seed):
    if not (0 <= params.small <= 1 and 0 <= params.threshold <= 255 and params.recent >= 0):
        raise BadParameter(f"s3fifod: wanted 0 <= small <= 1, 0 <= threshold <= 255 and recent >= 0, found {params}")
    queues = new_queues(n_blocks, 3)
    small = max(1, int(capacity * params.small))
    return State(
        queues,
        evicted=new_queues(n_blocks, 2),
        counter=np.zeros(n_blocks, np.uint8),
        ghost=np.zeros(n_blocks, np.uint8),
        left=np.full(n_blocks, NOWHERE, np.uint8),
        passed=new_walk(queues),
        share=np.array([small, capacity - small, capacity - small]),
        returns=np.zeros(2, np.int64),
        threshold=params.threshold,
        recent=int(capacity * params.recent),
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


@helper
def adapt(state, capacity):
    if state.evicted.size[MAIN] == 0:
        state.returns[SMALL] = 0
        state.returns[MAIN] = 0
    elif state.returns[SMALL] + state.returns[MAIN] > ENOUGH:
        shift_border(state.share, state.returns, capacity)


@part
def shift_border(share, returns, capacity):
    step = max(1, min(share[SMALL], share[MAIN]) // 1000)
    grows = 0
    if returns[SMALL] > 2 * returns[MAIN] and share[MAIN] > capacity / 100:
        grows = step
    elif returns[MAIN] > 2 * returns[SMALL] and share[SMALL] > capacity / 100:
        grows = -step
    share[SMALL] += grows
    share[GHOST] += grows
    share[MAIN] -= grows
    returns[SMALL] = returns[SMALL] * 4 // 5
    returns[MAIN] = returns[MAIN] * 4 // 5


@helper
def on_hit(state, frame, block, position, now):
    adapt(state, capacity_of(frame))
    if state.counter[block] < max(state.threshold, MOST):
        state.counter[block] += 1


@helper
def on_insert(state, frame, block, position, now):
    adapt(state, capacity_of(frame))
    left = np.int64(state.left[block])
    if left != NOWHERE:
        take(state.evicted, left, np.int64(block))
        state.left[block] = NOWHERE
        state.returns[left] += 1
    q = SMALL
    if state.ghost[block]:
        take(state.queues, GHOST, np.int64(block))
        state.ghost[block] = 0
        q = MAIN
    push_front(state.queues, q, block)
    state.counter[block] = 0


@helper
def remember(state, frame, block):
    while 0 < state.queues.size[GHOST] >= state.share[GHOST]:
        state.ghost[forget_oldest(state.queues, state.passed, GHOST, frame)] = 0
    if state.share[GHOST] > 0:
        put(state.queues, GHOST, block)
        state.ghost[block] = 1


@helper
def note(state, q, block):
    """The block leaves queue q for good."""
    if state.recent > 0:
        if state.evicted.size[q] >= state.recent:
            oldest = back(state.evicted, q)
            take(state.evicted, q, oldest)
            state.left[oldest] = NOWHERE
        put(state.evicted, q, block)
        state.left[block] = q


@helper
def evict(state, frame, now):
    main_goes_first = state.queues.size[MAIN] > state.share[MAIN]
    while True:
        q = MAIN if main_goes_first else SMALL
        block = oldest_unpinned(state.queues, state.passed, q, frame)
        if is_sentinel(state.queues, block):
            main_goes_first = not main_goes_first
            continue
        take(state.queues, q, block)
        if state.counter[block] < (state.threshold if q == SMALL else 1):
            break
        put(state.queues, MAIN, block)
        state.counter[block] = 0 if q == SMALL else min(state.counter[block], MOST) - 1
        main_goes_first = main_goes_first or state.queues.size[MAIN] > state.share[MAIN]
    if q == SMALL:
        remember(state, frame, block)
    note(state, q, block)
    return block


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    small, main, ghost = (listed(state.queues, q) for q in (SMALL, MAIN, GHOST))
    assert sorted(small + main) == np.flatnonzero(frame.resident).tolist()
    assert sorted(ghost) == np.flatnonzero(state.ghost).tolist()
    assert not frame.resident[ghost].any()
    assert state.share[SMALL] + state.share[MAIN] == capacity_of(frame) and (state.share[:2] >= 0).all()
    for q in (SMALL, MAIN):
        evicted = listed(state.evicted, q)
        assert sorted(evicted) == np.flatnonzero(state.left == q).tolist()
        assert not frame.resident[evicted].any() and len(evicted) <= state.recent


POLICY = Policy(
    "s3fifod",
    family="queue",
    paper="Yang et al., FIFO Queues Are All You Need for Cache Eviction, SOSP 2023",
    year=2023,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
