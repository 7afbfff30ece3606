"""What is remembered of the blocks used lately, resident or evicted: the features of a learned policy.

    RESIDENT    blocks in the cache, by last use
    EVICTED     blocks remembered beyond, by eviction; the oldest is forgotten when there are more than ``limit``

    features    age | uses, position, category | deltas, the latest first | decayed counters

Facts stand in dense slots, one a remembered block, so that a slot drawn is a block drawn.  ``age`` is the time since
the last use, a delta the time between two uses, -1 where there was none.  All blocks of a request are used at one time,
the clock after its last access.  A decayed counter halves every 2**10, 2**11, ... accesses and counts a use as 1.
Noting a use and describing a block cost O(features).  Memory: 4 bytes a feature and 20 for each remembered block, 12
for every other block of the trace.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.queues import Queues, listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.walk import forget_oldest, new_walk

RESIDENT, EVICTED = 0, 1  # queues
USES, POSITION, CATEGORY, DELTAS = range(4)  # facts; then the decayed counters
SHORTEST = 10  # log2 of the first decayed counter's half-life in accesses
LN2 = log(2)


class History(NamedTuple):
    queues: Queues
    passed: np.ndarray  # int64 (2,): see kernels/walk.py
    slot: np.ndarray  # int32 (n_blocks,): -1 where the block is not remembered
    block: np.ndarray  # int32 (room,): of each slot
    touched: np.ndarray  # int64 (room,): time of the last use
    sampled: np.ndarray  # int64 (room,): since when it waits as an example (kernels/learner.py), -1: it does not
    facts: np.ndarray  # float32 (room, DELTAS + n_deltas + n_decayed)
    size: np.ndarray  # int64 [0]: blocks remembered
    limit: np.ndarray  # int64 [0]: evicted blocks to remember
    n_deltas: int


def new_history(n_blocks: int, capacity: int, limit: int, most: int, n_deltas: int, n_decayed: int = 0) -> History:
    """Nothing remembered yet; ``limit`` evicted blocks may be, and never more than ``most``."""
    queues = new_queues(n_blocks, 2)
    room = min(n_blocks, capacity + most)
    return History(
        queues,
        passed=new_walk(queues),
        slot=np.full(n_blocks, -1, np.int32),
        block=np.zeros(room, np.int32),
        touched=np.zeros(room, np.int64),
        sampled=np.full(room, -1, np.int64),
        facts=np.zeros((room, DELTAS + n_deltas + n_decayed), np.float32),
        size=np.zeros(1, np.int64),
        limit=np.full(1, limit, np.int64),
        n_deltas=n_deltas,
    )


def n_features(history: History) -> int:
    return 1 + history.facts.shape[1]


@helper
def last_use(history, block):
    return history.touched[history.slot[block]]


@part
def note_use(history, block, position, category, now):
    """Enter into the facts that a request uses the block; once, where it repeats it."""
    s = np.int64(history.slot[block])
    facts = history.facts
    first_decayed = DELTAS + history.n_deltas
    if s < 0:
        s = history.size[0]
        history.size[0] = s + 1
        history.slot[block] = s
        history.block[s] = block
        history.sampled[s] = -1
        facts[s, USES] = 0
        for f in range(DELTAS, first_decayed):
            facts[s, f] = -1
        for f in range(first_decayed, facts.shape[1]):
            facts[s, f] = 0
    elif history.touched[s] == now:
        return
    else:
        delta = now - history.touched[s]
        for f in range(first_decayed - 1, DELTAS, -1):
            facts[s, f] = facts[s, f - 1]
        if history.n_deltas > 0:
            facts[s, DELTAS] = delta
        fade = fading(facts.shape[1] - first_decayed, delta)
        for f in range(facts.shape[1] - 1, first_decayed - 1, -1):
            facts[s, f] = np.float64(facts[s, f]) * fade
            fade *= fade
    for f in range(first_decayed, facts.shape[1]):
        facts[s, f] = np.float64(facts[s, f]) + 1
    facts[s, USES] += 1
    facts[s, POSITION] = position
    facts[s, CATEGORY] = category
    history.touched[s] = now


@helper
def fading(n_decayed, time):
    """What the last of the decayed counters is multiplied with after that time; its square is the one before's, ..."""
    return exp(-LN2 * time / 2.0 ** (SHORTEST + n_decayed - 1))


@part
def describe(history, block, now, rows, r):
    """Write the features of a remembered block as of ``now`` into row r of ``rows``, float32 (.., n_features)."""
    s = np.int64(history.slot[block])
    facts = history.facts
    first_decayed = DELTAS + history.n_deltas
    age = now - history.touched[s]
    rows[r, 0] = age
    for f in range(first_decayed):
        rows[r, 1 + f] = facts[s, f]
    fade = fading(facts.shape[1] - first_decayed, age)
    for f in range(facts.shape[1] - 1, first_decayed - 1, -1):
        rows[r, 1 + f] = np.float64(facts[s, f]) * fade
        fade *= fade


@helper
def enter(history, block):
    """A block becomes resident."""
    if history.slot[block] >= 0:
        remove(history.queues, EVICTED, block)
    push_front(history.queues, RESIDENT, block)


@helper
def renew(history, block):
    """A resident block is used."""
    move_to_front(history.queues, RESIDENT, block)


@helper
def leave(history, block):
    """A resident block is evicted, and remembered."""
    remove(history.queues, RESIDENT, block)
    push_front(history.queues, EVICTED, block)


@helper
def one_too_many(history):
    """Whether the oldest evicted block should be forgotten."""
    return history.queues.size[EVICTED] > history.limit[0]


@helper
def oldest_evicted(history, frame):
    """Take the evicted block that is forgotten next out of the queue, those of the arriving request last."""
    return forget_oldest(history.queues, history.passed, EVICTED, frame)


@helper
def forget(history, block):
    """Free the slot of a block that stands in no queue; the last slot's facts move into it."""
    s = np.int64(history.slot[block])
    last = history.size[0] - 1
    history.size[0] = last
    history.slot[block] = -1
    if s != last:
        moved = history.block[last]
        history.slot[moved] = s
        history.block[s] = moved
        history.touched[s] = history.touched[last]
        history.sampled[s] = history.sampled[last]
        for f in range(history.facts.shape[1]):
            history.facts[s, f] = history.facts[last, f]


def remembered(history: History) -> list[int]:
    """The blocks in order of slots, both directions and the queues checked; for tests."""
    blocks = [int(block) for block in history.block[: history.size[0]]]
    assert [int(history.slot[block]) for block in blocks] == list(range(len(blocks))), "a block's slot is wrong"
    assert np.count_nonzero(history.slot >= 0) == len(blocks), "a block has a slot but is not remembered"
    assert sorted(blocks) == sorted(listed(history.queues, RESIDENT) + listed(history.queues, EVICTED))
    assert history.queues.size[EVICTED] <= history.limit[0]
    return blocks
