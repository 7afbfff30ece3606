"""The walk of an allocation: from the old end of a queue toward its front, past pinned blocks.

A pinned block stays where it is until the allocation ends, so the walk remembers the last one it passed in each queue
and goes on from there: all searches of one allocation together cost O(blocks of the request + victims), whatever else
is resident.

    sentinel ── back ── pinned ── pinned ── candidate ── ... ── front
                                  passed
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import PIN
from hitcurve.kernels.queues import (
    Queues,
    back,
    is_sentinel,
    move_to_front,
    older,
    push_front,
    remove,
    sentinel,
)


def new_walk(queues: Queues) -> np.ndarray:
    """``passed`` int64 (n_queues,): last pinned block passed in each queue; the sentinel before the first."""
    n = len(queues.size)
    return np.arange(len(queues.links) - n, len(queues.links))


@helper
def begin_walk(queues, passed):
    """An allocation begins: every queue is walked from its back again."""
    for q in range(len(passed)):
        passed[q] = sentinel(queues, q)


@part
def walk(links, passed, q, requested, pins):
    """One step of ``oldest_unpinned``, compiled once for all policies."""
    block = np.int64(links[passed[q]].newer)
    while pins and block < len(requested) and requested[block]:
        passed[q] = block
        block = np.int64(links[block].newer)
    return block


@helper
def oldest_unpinned(queues, passed, q, frame):
    """Oldest block of queue q that is not pinned, or a sentinel.  Unpinned blocks may leave or move between calls."""
    return walk(queues.links, passed, q, frame.requested, frame.numbers[PIN])


@helper
def forget_oldest(queues, passed, q, frame):
    """Take the oldest unpinned block out of queue q, or the very oldest where all are pinned, and return it."""
    block = oldest_unpinned(queues, passed, q, frame)
    if is_sentinel(queues, block):
        block = back(queues, q)
        if block == passed[q]:
            passed[q] = older(queues, block)
    remove(queues, q, block)
    return block


@helper
def remember(queues, passed, ghost, limit, place, nowhere, block, frame):
    """Put an evicted block into the queue ``ghost`` of at most ``limit`` blocks, whose oldest one makes room.

    ``place`` (n_blocks,): the queue of a block that is remembered; of one that is forgotten ``nowhere``.
    """
    if limit > 0:
        if queues.size[ghost] >= limit:
            place[forget_oldest(queues, passed, ghost, frame)] = nowhere
        push_front(queues, ghost, block)
        place[block] = ghost


@helper
def take_spent(queues, passed, q, counter, most, frame):
    """Take the oldest unpinned block without a turn left out of queue q and return it; -1 where there is none.

    Blocks before it go to the front for one of their turns (``counter``), of which at most ``most`` count.
    """
    while True:
        block = oldest_unpinned(queues, passed, q, frame)
        if is_sentinel(queues, block):
            return -1
        if counter[block] == 0:
            remove(queues, q, block)
            return block
        counter[block] = min(counter[block], most) - 1
        move_to_front(queues, q, block)
