"""The residents as a pool to draw from, pinned ones set aside, and what the policy knows of each beside it.

    slot       0 ............. drawable ............. size
               may be drawn  |  pinned by the request that the allocation is for

A gap is filled with the last member of its part, so every draw is uniform.  All operations are O(1), except that
setting aside is O(blocks of the request).  Facts move with their block: a draw looks at one line of memory instead of
one a fact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import PIN, REQUEST
from hitcurve.kernels.rng import below

SIZE, DRAWABLE = 0, 1
NOTHING = np.dtype([("nothing", np.uint8)])  # known of a block


class Pool(NamedTuple):
    members: np.ndarray  # int32 (room,): block of each slot
    facts: np.ndarray  # records (room + 1,): of the block in the slot, written by the policy; the last one is spare
    score: np.ndarray  # float64 (room,): of the block in the slot, in one allocation; see kernels/sampling.py
    slot: np.ndarray  # int32 (n_blocks,): slot of each block, -1: not a member
    numbers: np.ndarray  # int64: [SIZE], and [DRAWABLE] of the current allocation


def new_pool(n_blocks: int, room: int, facts: np.dtype[Any] = NOTHING) -> Pool:
    """An empty pool for at most ``room`` of the blocks 0 .. n_blocks - 1; ``facts``: the fields of what is known."""
    room = min(room, n_blocks)
    return Pool(
        members=np.zeros(room, np.int32),
        facts=np.zeros(room + 1, facts).view(np.recarray),
        score=np.zeros(room),
        slot=np.full(n_blocks, -1, np.int32),
        numbers=np.zeros(2, np.int64),
    )


@helper
def add(pool, block):
    """Make a block a member; return its slot, whose facts are for the policy to write."""
    slot = pool.numbers[SIZE]
    pool.members[slot] = block
    pool.slot[block] = slot
    pool.numbers[SIZE] = slot + 1
    return slot


@helper
def swap(pool, one, other):
    """Exchange the blocks of two slots before anything is scored."""
    block = pool.members[one]
    pool.members[one] = pool.members[other]
    pool.members[other] = block
    pool.slot[pool.members[one]] = one
    pool.slot[block] = other
    facts, spare = pool.facts, len(pool.members)
    facts[spare] = facts[one]
    facts[one] = facts[other]
    facts[other] = facts[spare]


@helper
def move(pool, source, slot):
    """Put the block of one slot into another, whose own is gone."""
    pool.members[slot] = pool.members[source]
    pool.slot[pool.members[slot]] = slot
    pool.score[slot] = pool.score[source]
    pool.facts[slot] = pool.facts[source]


@part
def set_pinned_aside(pool, frame):
    """An allocation begins: every member is drawable, except the pinned blocks of the arriving request."""
    drawable = pool.numbers[SIZE]
    if frame.numbers[PIN]:
        r = frame.numbers[REQUEST]
        for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
            first = frame.span_first[s]
            for block in range(first, first + frame.span_length[s]):
                if 0 <= pool.slot[block] < drawable:
                    drawable -= 1
                    swap(pool, pool.slot[block], drawable)
    pool.numbers[DRAWABLE] = drawable


@helper
def draw(pool, random):
    """The slot of a drawable member, each equally likely; there must be one."""
    return below(random, pool.numbers[DRAWABLE])


@helper
def remove(pool, slot):
    """Take the block out of a drawable slot and return it."""
    block = np.int64(pool.members[slot])
    drawable = pool.numbers[DRAWABLE] - 1
    size = pool.numbers[SIZE] - 1
    move(pool, drawable, slot)
    if size > drawable:
        move(pool, size, drawable)
    pool.slot[block] = -1
    pool.numbers[DRAWABLE] = drawable
    pool.numbers[SIZE] = size
    return block


def listed(pool: Pool) -> list[int]:
    """The members in order of slots, both directions checked; for tests."""
    members = [int(block) for block in pool.members[: pool.numbers[SIZE]]]
    assert [int(pool.slot[block]) for block in members] == list(range(len(members))), "a member's slot is wrong"
    assert np.count_nonzero(pool.slot >= 0) == len(members), "a block has a slot but is no member"
    return members
