"""Blocks in queues by frequency: one queue for each frequency that occurs, the queues in a ring from low to high.

    END ── bucket of 1 ── bucket of 2 ── bucket of 5 ── END          each bucket: oldest ── ... ── newest

A block enters at the lowest frequency and rises one at a time, so the bucket it rises to is the next one or a new one
beside it: every operation is O(1).  12 bytes a block, 32 bytes a bucket, touched only once the bucket is used.
Shah, Mitra, Matani: "An O(1) algorithm for implementing the LFU cache eviction scheme", 2010.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.queues import LINK, Queues, back, is_sentinel, listed, newer, push_front, remove, sentinel

NEIGHBOURS = np.dtype([("lower", np.int32), ("higher", np.int32)])
FREE, USED = 0, 1  # places in Buckets.pool


class Buckets(NamedTuple):
    """Bucket k is queue k; END is the row after the last bucket."""

    queues: Queues
    bucket: np.ndarray  # int32 (n_blocks,): of a block that is in
    frequency: np.ndarray  # int64 (room + 1,): of a bucket that is in use; 0 for END
    ring: np.ndarray  # NEIGHBOURS (room + 1,), as records; ``higher`` also chains the free buckets
    pool: np.ndarray  # int64 (2,): [FREE] first free bucket, or END; [USED] buckets ever used


def new_buckets(n_blocks: int, capacity: int) -> Buckets:
    """No blocks yet, at most ``capacity`` of the blocks 0 .. n_blocks - 1."""
    room = min(n_blocks, capacity)
    queues = Queues(np.recarray(n_blocks + room, LINK), np.zeros(room, np.int64))
    ring = np.recarray(room + 1, NEIGHBOURS)
    ring[room] = room, room
    frequency = np.zeros(room + 1, np.int64)
    return Buckets(queues, np.empty(n_blocks, np.int32), frequency, ring, np.array([room, 0], np.int64))


@helper
def end_of(buckets):
    return len(buckets.frequency) - 1


@helper
def bucket_above(buckets, k):
    """Next bucket in use, or END; of END: the lowest."""
    return np.int64(buckets.ring[k].higher)


@helper
def first_block(buckets):
    """The oldest block of the lowest frequency; there is one."""
    return back(buckets.queues, bucket_above(buckets, end_of(buckets)))


@helper
def next_block(buckets, block):
    """The block after this one by frequency and age, or -1."""
    following = newer(buckets.queues, block)
    if is_sentinel(buckets.queues, following):
        k = bucket_above(buckets, buckets.bucket[block])
        following = np.int64(-1) if k == end_of(buckets) else back(buckets.queues, k)
    return following


@part
def new_bucket(buckets, frequency, lower):
    """Open a bucket above ``lower`` (END: as the lowest)."""
    k = buckets.pool[FREE]
    if k != end_of(buckets):
        buckets.pool[FREE] = buckets.ring[k].higher
    else:
        k = buckets.pool[USED]
        buckets.pool[USED] = k + 1
    end = sentinel(buckets.queues, k)
    buckets.queues.links[end].older = end
    buckets.queues.links[end].newer = end
    buckets.frequency[k] = frequency
    higher = buckets.ring[lower].higher
    buckets.ring[k].lower = lower
    buckets.ring[k].higher = higher
    buckets.ring[lower].higher = k
    buckets.ring[higher].lower = k
    return k


@part
def take(buckets, block):
    """Take a block out; an empty bucket is given back."""
    k = np.int64(buckets.bucket[block])
    remove(buckets.queues, k, block)
    if buckets.queues.size[k] == 0:
        lower, higher = buckets.ring[k].lower, buckets.ring[k].higher
        buckets.ring[lower].higher = higher
        buckets.ring[higher].lower = lower
        buckets.ring[k].higher = buckets.pool[FREE]
        buckets.pool[FREE] = k


@helper
def enter(buckets, block):
    """Put a block that is not in as the newest of frequency 1."""
    k = bucket_above(buckets, end_of(buckets))
    if buckets.frequency[k] != 1:
        k = new_bucket(buckets, 1, end_of(buckets))
    push_front(buckets.queues, k, block)
    buckets.bucket[block] = k


@part
def rise(buckets, block):
    """Make a block the newest of the frequency above its own."""
    lower = np.int64(buckets.bucket[block])
    frequency = buckets.frequency[lower] + 1
    k = bucket_above(buckets, lower)
    if buckets.frequency[k] != frequency:
        if buckets.queues.size[lower] == 1:
            buckets.frequency[lower] = frequency  # the bucket rises with its only block
            return
        k = new_bucket(buckets, frequency, lower)
    take(buckets, block)
    push_front(buckets.queues, k, block)
    buckets.bucket[block] = k


def listed_by_frequency(buckets: Buckets) -> list[tuple[int, list[int]]]:
    """(frequency, its blocks from oldest to newest) from low to high, the ring checked; for tests."""
    found: list[tuple[int, list[int]]] = []
    end = k = len(buckets.frequency) - 1
    while (above := int(buckets.ring[k].higher)) != end:
        assert buckets.ring[above].lower == k, f"ring around bucket {above}"
        k = above
        blocks = listed(buckets.queues, k)[::-1]
        assert blocks and (buckets.bucket[blocks] == k).all(), f"bucket {k}"
        assert not found or found[-1][0] < buckets.frequency[k], f"bucket {k} is not above the one before"
        found.append((int(buckets.frequency[k]), blocks))
    assert buckets.ring[end].lower == k and buckets.frequency[end] == 0
    return found
