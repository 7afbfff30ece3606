"""Candidates for eviction, found from both ends of the residents, in passes that tune themselves (3L-Cache).

    old end ── hand ── ... ── new end         a pass: the hand goes once over as many residents as there were
    NEW        blocks inserted and not asked about yet, by insertion
    heap       who was asked about, the one used last of all first

A candidate is asked about as one of the OLDEST residents, as an unpopular OTHER, or as NEW.  ``tune`` compares what the
reasons were good for.  Everything costs O(log candidates), a pass O(residents).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels import heap
from hitcurve.kernels.heap import Heap, new_heap
from hitcurve.kernels.history import RESIDENT
from hitcurve.kernels.queues import Queues, back, is_sentinel, listed, new_queues, newer, push_front, remove

OLDEST, OTHER, NEW = range(3)  # reasons
HAND, LOOKED, LENGTH, POPULAR, OLDEST_SHARE, NEW_SHARE = range(6)  # places in ``numbers``; shares in percent
BINS = 32  # of victims by log2 of their uses


class Candidates(NamedTuple):
    heap: Heap
    reason: np.ndarray  # uint8 (n_blocks,): of a candidate
    new: Queues
    is_new: np.ndarray  # uint8 (n_blocks,)
    numbers: np.ndarray  # int64: see the places above; [HAND] is -1 before the first pass
    asked: np.ndarray  # int64 (3,): candidates of this pass by reason
    taken: np.ndarray  # int64 (3,): victims of this pass by reason
    uses_taken: np.ndarray  # int64 (BINS,): victims of this pass by log2 of their uses


def new_candidates(n_blocks: int, capacity: int) -> Candidates:
    """None yet; popular is more than one use, the shares are 1 and 2 percent."""
    return Candidates(
        new_heap(n_blocks, capacity),
        reason=np.zeros(n_blocks, np.uint8),
        new=new_queues(n_blocks),
        is_new=np.zeros(n_blocks, np.uint8),
        numbers=np.array([-1, 0, 0, 1, 1, 2], np.int64),
        asked=np.zeros(3, np.int64),
        taken=np.zeros(3, np.int64),
        uses_taken=np.zeros(BINS, np.int64),
    )


@helper
def add_new(candidates, block):
    push_front(candidates.new, 0, block)
    candidates.is_new[block] = 1


@part
def take_oldest_new(candidates):
    """The oldest of the new blocks, of which there is one; new no more."""
    block = back(candidates.new, 0)
    remove(candidates.new, 0, block)
    candidates.is_new[block] = 0
    return block


@helper
def step_over(candidates, residents, block):
    """The block is about to leave its place among the residents: the hand must not point at it."""
    if candidates.numbers[HAND] == block:
        candidates.numbers[HAND] = newer(residents, block)


@helper
def withdraw(candidates, block):
    """The block is a candidate no more, if it was one."""
    if heap.holds(candidates.heap, block):
        heap.remove(candidates.heap, block)


@part
def drop(candidates, residents, block):
    """The block is about to be evicted."""
    step_over(candidates, residents, block)
    withdraw(candidates, block)
    if candidates.is_new[block]:
        remove(candidates.new, 0, block)
        candidates.is_new[block] = 0


@part
def propose(candidates, block, reason, key, tie):
    """Make the block a candidate; smaller (key, tie) come first."""
    withdraw(candidates, block)
    heap.push(candidates.heap, block, key, tie)
    candidates.reason[block] = reason
    candidates.asked[reason] += 1


@part
def take_first(candidates):
    """The first candidate, of whom there is one; a candidate no more."""
    block = heap.first(candidates.heap)
    heap.remove(candidates.heap, block)
    return block


@helper
def at_its_end(candidates, residents):
    """Whether the pass is over, or none has begun."""
    numbers = candidates.numbers
    return numbers[HAND] < 0 or numbers[LOOKED] >= numbers[LENGTH] or is_sentinel(residents, numbers[HAND])


@part
def begin_pass(candidates, residents):
    """The hand goes back to the oldest resident, and nobody is a candidate."""
    while candidates.heap.slots[0] > 0:
        take_first(candidates)
    candidates.numbers[HAND] = back(residents, RESIDENT)
    candidates.numbers[LOOKED] = 0
    candidates.numbers[LENGTH] = residents.size[RESIDENT]


@helper
def look(candidates, residents):
    """The block under the hand, which moves on; the pass is not over."""
    block = candidates.numbers[HAND]
    candidates.numbers[HAND] = newer(residents, block)
    candidates.numbers[LOOKED] += 1
    return block


@helper
def among_the_oldest(candidates):
    """Whether the block looked at last is; the first one of a pass always is."""
    numbers = candidates.numbers
    return 100 * (numbers[LOOKED] - 1) <= numbers[OLDEST_SHARE] * numbers[LENGTH]


@helper
def too_many_new(candidates, residents, times):
    """Whether more blocks are new than so many times their share of the residents."""
    return 100 * candidates.new.size[0] > times * candidates.numbers[NEW_SHARE] * residents.size[RESIDENT]


@part
def count_victim(candidates, block, uses):
    """The candidate is evicted after so many uses."""
    b = 0
    while uses > 1 and b < BINS - 1:
        uses >>= 1
        b += 1
    candidates.uses_taken[b] += 1
    candidates.taken[candidates.reason[block]] += 1


@part
def tune(candidates):
    """Draw the lessons of a pass, and forget it.

    Popular is what is used more often than 99 of 100 victims, rounded up to below a power of two.  The share of the
    oldest grows where they were taken more often than others, the share of new blocks where more victims were old than
    are new; else the one shrinks by 1, the other by half.
    """
    numbers, asked, taken = candidates.numbers, candidates.asked, candidates.taken
    total = taken[OLDEST] + taken[OTHER] + taken[NEW]
    seen = 0
    for b in range(BINS):
        seen += candidates.uses_taken[b]
        candidates.uses_taken[b] = 0
        if total > 0 and 100 * seen >= 99 * total:
            numbers[POPULAR] = 2 ** (b + 1) - 1
            total = 0
    more = taken[OLDEST] * asked[OTHER] > taken[OTHER] * asked[OLDEST]
    numbers[OLDEST_SHARE] = min(100, numbers[OLDEST_SHARE] + 1) if more else max(1, numbers[OLDEST_SHARE] - 1)
    more = taken[OLDEST] + taken[OTHER] > candidates.new.size[0]
    numbers[NEW_SHARE] = min(100, numbers[NEW_SHARE] + 1) if more else max(1, numbers[NEW_SHARE] // 2)
    for reason in range(3):
        asked[reason] = 0
        taken[reason] = 0


def check_candidates(candidates: Candidates, residents: Queues) -> None:
    """Candidates and new blocks are residents, and so is what the hand points at; for tests."""
    resident = set(listed(residents, RESIDENT))
    assert {block for _, _, block in heap.listed(candidates.heap)} <= resident
    new = listed(candidates.new, 0)
    assert sorted(new) == np.flatnonzero(candidates.is_new).tolist() and set(new) <= resident
    hand = int(candidates.numbers[HAND])
    assert hand < 0 or is_sentinel(residents, hand) or hand in resident
