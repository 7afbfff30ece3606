"""S4-FIFO: S3-FIFO with five knobs: two shares, two thresholds, and hits too early to count.

Xia et al.: "Learning-Augmented Heuristics: Simple yet Smart, Robust and Interpretable Cache Eviction", OSDI 2026.  Two
knobs are new.  ``skip``: hits on the newest blocks of the small queue do not count, that is until as many blocks have
entered it, this one included, as that share of it (rounded down); what is used again at once need not be used later.
``ghost_threshold``: above 0 a remembered block has to pass the small queue again instead of entering the main queue.
With both at 0, the defaults, it is S3-FIFO, victim by victim.

Differs from the paper: the data path alone.  The paper sets the knobs once, after a fifth of a trace, by a classifier
that was trained beforehand on 4 140 traces of object caches (18 settings, over 70 statistics of the cache); a model
cannot be had from a text, so nothing is tuned here.  What the paper calls retrospective choice is a sweep: it searched
small 0.05 to 0.9, ghost 0.9, 3 and 6, threshold 1 and 2, ghost_threshold 0 and 1, skip 0 and 0.25.  A remembered block
that re-enters the small queue is no longer remembered, which no later decision can tell.  What S3-FIFO differs in here
(``hitcurve policies s3fifo``) holds for this one as well.
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
    ghost_threshold: int = 0  # above 0: remembered blocks enter the small queue, not the main queue
    skip: float = 0.0  # share of the small queue, its newest blocks, whose hits do not count


class State(NamedTuple):
    params: Params
    queues: Queues  # SMALL, MAIN, GHOST
    counter: np.ndarray  # uint8 (n_blocks,): hits that counted since the block entered its queue, less turns paid for
    ghost: np.ndarray  # uint8 (n_blocks,): GHOST for a remembered block, else 0
    entered: np.ndarray  # int64 (n_blocks,): how many blocks entered the small queue before it; -1 in the main queue
    entries: np.ndarray  # int64 [0]: blocks that have entered the small queue
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    evicted: np.ndarray  # uint8 [0]: 1 after the first eviction
    small_limit: int
    main_limit: int
    ghost_limit: int


def new_state(n_blocks, capacity, params, seed):
    shares = 0 <= params.small <= 1 and params.ghost >= 0 and 0 <= params.skip <= 1
    if not (shares and 0 <= params.threshold <= 255 and params.ghost_threshold >= 0):
        wanted = "small and skip in 0 .. 1, ghost and ghost_threshold >= 0 and threshold in 0 .. 255"
        raise BadParameter(f"s4fifo: wanted {wanted}, found {params}")
    queues = new_queues(n_blocks, 3)
    small = max(1, int(capacity * params.small))
    return State(
        params,
        queues,
        counter=np.zeros(n_blocks, np.uint8),
        ghost=np.zeros(n_blocks, np.uint8),
        entered=np.zeros(n_blocks, np.int64),
        entries=np.zeros(1, np.int64),
        passed=new_walk(queues),
        evicted=np.zeros(1, np.uint8),
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
    newest = int(state.params.skip * state.queues.size[SMALL])
    counts = state.entered[block] < 0 or state.entries[0] - state.entered[block] >= newest
    if counts and state.counter[block] < max(state.params.threshold, MOST):
        state.counter[block] += 1


@helper
def enter_small(state, block):
    push_front(state.queues, SMALL, block)
    state.counter[block] = 0
    state.entered[block] = state.entries[0]
    state.entries[0] += 1


@helper
def enter_main(state, block):
    push_front(state.queues, MAIN, block)
    state.counter[block] = 0
    state.entered[block] = -1


@helper
def on_insert(state, frame, block, position, now):
    promoted = state.evicted[0] == 0 and state.queues.size[SMALL] >= state.small_limit
    if state.ghost[block]:
        remove(state.queues, GHOST, block)
        state.ghost[block] = 0
        promoted = promoted or state.params.ghost_threshold == 0
    if promoted:
        enter_main(state, block)
    else:
        enter_small(state, block)


@helper
def evict_small(state, frame):
    """A victim of the small queue, its earlier blocks promoted; -1 when it ends first."""
    while True:
        block = oldest_unpinned(state.queues, state.passed, SMALL, frame)
        if is_sentinel(state.queues, block):
            return -1
        remove(state.queues, SMALL, block)
        if state.counter[block] < state.params.threshold:
            remember(state.queues, state.passed, GHOST, state.ghost_limit, state.ghost, 0, block, frame)
            return block
        enter_main(state, block)


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
    assert (np.diff(state.entered[small]) < 0).all() and (state.entered[main] == -1).all()


POLICY = Policy(
    "s4fifo",
    family="queue",
    paper="Xia et al., Learning-Augmented Heuristics, OSDI 2026",
    year=2026,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
