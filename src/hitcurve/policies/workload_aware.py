"""WorkloadAware: evict the block least likely to be used again, by how long its class of requests waits for reuse.

"KVCache Cache in the Wild", arXiv 2506.02634 (USENIX ATC 2025), section 4.2.  A class is a request type and a turn; a
block belongs for good to the class of the request that brought it.  Per class and over all blocks, a moving average of
the gaps between uses (weight 0.05 on the newest, 1 000 000 to begin with) is kept, in block accesses.  Each class has
an LRU queue.  Of the oldest blocks of all classes, the one with the lowest chance of being used while it matters goes:

    exp(-idle / class mean) * (1 - exp(-overall mean / class mean))          idle: accesses since its last use

Of equal chances (they are 0 beyond 745 class means) the one deepest in its request goes, then the one whose class came
up first: at the beginning of an allocation classes come up in the order in which they were first seen, and anew after
each of their victims.  An evicted block is forgotten; what its class has learnt stays.

A request's blocks are used root first, found ones before those that must be inserted, which enter in replay order.
With one class (a trace without request types and turns) chances play no part, and this is LRU in that order; one
block at a time, it is LRU.

Differs from the paper: classes are those of the trace, and gaps are averaged, with no distribution fitted to them, as
in PrefixSim, of which the numbers are.  Pinned blocks are passed over: a class is represented by its oldest unpinned
block; PrefixSim may evict them.

An allocation costs O(classes) besides its victims, each O(log classes).
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.frame import REQUEST
from hitcurve.kernels.heap import Heap, clear, first, float_key, new_heap, push
from hitcurve.kernels.heap import remove as leave
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

SHARE = 0.05  # of the newest gap in a mean
PRIOR = 1e6  # mean gap before the first
UNSEEN = -1
SEEN, MADE = range(2)  # places in ``numbers``


class State(NamedTuple):
    queues: Queues  # one a class, of its residents
    passed: np.ndarray  # int64 (n_classes,): see kernels/walk.py
    heads: Heap  # of classes: by the chance of the block that may go, then by its depth and by when it came up
    category: np.ndarray  # int32 (n_blocks,): class of each block, or UNSEEN
    offset: np.ndarray  # int32 (n_blocks,): position at which it was first seen
    last: np.ndarray  # int64 (n_blocks,): clock of its last use
    mean: np.ndarray  # float64 (n_classes + 1,): mean gap of each class, of all blocks behind them
    seen: np.ndarray  # int64 (n_classes,): classes in the order in which they were first seen
    is_seen: np.ndarray  # uint8 (n_classes,)
    numbers: np.ndarray  # int64: [SEEN] classes, [MADE] heads of this allocation so far


def new_state(n_blocks, capacity, params, seed, context):
    n_classes = int(context.category.max(initial=0)) + 1
    queues = new_queues(n_blocks, n_classes)
    return State(
        queues,
        passed=new_walk(queues),
        heads=new_heap(n_classes, n_classes),
        category=np.full(n_blocks, UNSEEN, np.int32),
        offset=np.zeros(n_blocks, np.int32),
        last=np.zeros(n_blocks, np.int64),
        mean=np.full(n_classes + 1, PRIOR),
        seen=np.zeros(n_classes, np.int64),
        is_seen=np.zeros(n_classes, np.uint8),
        numbers=np.zeros(2, np.int64),
    )


@helper
def learn(state, category, gap):
    for which in (category, len(state.mean) - 1):
        state.mean[which] = (1 - SHARE) * state.mean[which] + SHARE * gap


@helper
def on_path(state, frame, now):
    r = frame.numbers[REQUEST]
    clock = now
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        start = np.int64(frame.span_first[s])
        for block in range(start, start + frame.span_length[s]):
            category = np.int64(state.category[block])
            if category == UNSEEN:
                category = frame.context.category[r]
                state.category[block] = category
                state.offset[block] = clock - now
                if not state.is_seen[category]:
                    state.is_seen[category] = 1
                    state.seen[state.numbers[SEEN]] = category
                    state.numbers[SEEN] += 1
            else:
                learn(state, category, clock - state.last[block])
                if frame.resident[block]:
                    move_to_front(state.queues, category, block)
            state.last[block] = clock
            clock += 1


@helper
def on_hit(state, frame, block, position, now):
    """Has been dealt with in ``on_path``."""


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queues, np.int64(state.category[block]), block)


@helper
def come_up(state, frame, category, now):
    """Let the class be represented by its oldest block that may go, if it has one."""
    block = oldest_unpinned(state.queues, state.passed, category, frame)
    if not is_sentinel(state.queues, block):
        mean, overall = state.mean[category], state.mean[-1]
        chance = exp((state.last[block] - now) / mean) * (1 - exp(-overall / mean))
        push(state.heads, category, float_key(chance), (-np.int64(state.offset[block]) << 32) + state.numbers[MADE])
        state.numbers[MADE] += 1


@part
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)
    clear(state.heads)
    state.numbers[MADE] = 0
    for i in range(state.numbers[SEEN]):
        come_up(state, frame, state.seen[i], now)


@helper
def evict(state, frame, now):
    category = first(state.heads)
    leave(state.heads, category)
    victim = oldest_unpinned(state.queues, state.passed, category, frame)
    remove(state.queues, category, victim)
    state.category[victim] = UNSEEN
    come_up(state, frame, category, now)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict, on_path=on_path)


def check(state, frame):
    residents = np.flatnonzero(frame.resident)
    assert np.array_equal(np.flatnonzero(state.category != UNSEEN), residents)
    for category in range(len(state.seen)):
        members = residents[state.category[residents] == category]
        assert sorted(listed(state.queues, category)) == members.tolist()
    seen = state.seen[: state.numbers[SEEN]]
    assert sorted(seen) == np.flatnonzero(state.is_seen).tolist() and (state.mean > 0).all()


POLICY = Policy(
    "workload_aware",
    family="adaptive",
    paper="KVCache Cache in the Wild, arXiv 2506.02634, USENIX ATC 2025",
    year=2025,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"category"}),
    without={
        "category": "workload_aware: the trace has neither request types nor turns, so all blocks are of one class"
    },
)
