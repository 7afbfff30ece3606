"""Indexed binary heap over dense block ids, in which a block may queue behind another instead of taking a slot.

    slots    0 precedes 1 and 2, i precedes 2 i + 1 and 2 i + 2          by (key, tie), smallest first
    queues   slot ── block ── behind[block] ── ...                      each precedes the one behind it

A block pushed right after one that precedes it goes behind that one; it moves into the slot when its predecessor
leaves.  Keys that run along a path (next uses, priorities of blocks inserted together) so cost O(1) a block, anything
else O(log slots).  With distinct (key, tie) pairs the order is total: results do not depend on who stands where.
24 bytes a slot and 24 bytes a block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part

RANK = np.dtype([("key", np.int64), ("tie", np.int64)])
NODE = np.dtype([("key", np.int64), ("tie", np.int64), ("block", np.int64)])
ABSENT = -1  # in ``place``; below it, ABSENT - 1 - b says "behind block b"


class Heap(NamedTuple):
    nodes: np.ndarray  # NODE (room,): each slot, as records
    keys: np.ndarray  # RANK (n_blocks,): of each block, as records
    place: np.ndarray  # int32 (n_blocks,): slot, or ABSENT, or behind whom
    behind: np.ndarray  # int32 (n_blocks,): who stands behind the block, or -1
    slots: np.ndarray  # int64 [0]: slots in use
    last: np.ndarray  # int64 [0]: block pushed last


def new_heap(n_blocks: int, room: int) -> Heap:
    """An empty heap for at most ``room`` of the blocks 0 .. n_blocks - 1."""
    return Heap(
        nodes=np.zeros(min(room, n_blocks) + 1, NODE).view(np.recarray),
        keys=np.zeros(n_blocks + 1, RANK).view(np.recarray),
        place=np.full(n_blocks + 1, ABSENT, np.int32),
        behind=np.full(n_blocks + 1, -1, np.int32),
        slots=np.zeros(1, np.int64),
        last=np.full(1, n_blocks, np.int64),
    )


@helper
def precedes(heap, slot, key, tie):
    """Does the node in the slot come before (key, tie)?"""
    return heap.nodes[slot].key < key or (heap.nodes[slot].key == key and heap.nodes[slot].tie < tie)


@helper
def put(heap, slot, key, tie, block):
    heap.nodes[slot].key = key
    heap.nodes[slot].tie = tie
    heap.nodes[slot].block = block
    heap.place[block] = slot


@helper
def move(heap, source, slot):
    put(heap, slot, heap.nodes[source].key, heap.nodes[source].tie, heap.nodes[source].block)


@part
def settle(heap, slot, block):
    """Put the block into the vacant slot, or above while it precedes the parent, or below while a child precedes it."""
    key, tie = heap.keys[block].key, heap.keys[block].tie
    while slot > 0 and not precedes(heap, (slot - 1) >> 1, key, tie):
        move(heap, (slot - 1) >> 1, slot)
        slot = (slot - 1) >> 1
    child = 2 * slot + 1
    while child < heap.slots[0]:
        other = child + 1
        if other < heap.slots[0] and precedes(heap, other, heap.nodes[child].key, heap.nodes[child].tie):
            child = other
        if not precedes(heap, child, key, tie):
            break
        move(heap, child, slot)
        slot = child
        child = 2 * slot + 1
    put(heap, slot, key, tie, block)


@helper
def float_key(x):
    """The int64 key that orders as the float64 ``x`` does, which is no NaN (-0.0 comes before 0.0)."""
    bits = np.float64(x).view(np.int64)
    return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)


@helper
def holds(heap, block):
    return heap.place[block] != ABSENT


@helper
def first(heap):
    """The block with the smallest (key, tie) of a heap that is not empty."""
    return heap.nodes[0].block


@helper
def push(heap, block, key, tie):
    """Add a block that is not in the heap."""
    last = heap.last[0]
    heap.last[0] = block
    heap.keys[block].key = key
    heap.keys[block].tie = tie
    heap.behind[block] = -1
    before = heap.keys[last].key < key or (heap.keys[last].key == key and heap.keys[last].tie < tie)
    if before and heap.behind[last] < 0 and heap.place[last] != ABSENT:
        heap.behind[last] = block
        heap.place[block] = ABSENT - 1 - last
    else:
        heap.slots[0] += 1
        settle(heap, heap.slots[0] - 1, np.int64(block))


@helper
def push_near(heap, block, key, tie):
    """``push``, for keys that may fall along a path as well: a block that precedes the one pushed right before it,
    which stands in a slot, takes that slot and has it behind."""
    last = heap.last[0]
    after = key < heap.keys[last].key or (key == heap.keys[last].key and tie < heap.keys[last].tie)
    if after and heap.place[last] >= 0:
        slot = np.int64(heap.place[last])
        heap.last[0] = block
        heap.keys[block].key = key
        heap.keys[block].tie = tie
        heap.behind[block] = last
        heap.place[last] = ABSENT - 1 - block
        settle(heap, slot, np.int64(block))
    else:
        push(heap, block, key, tie)


@helper
def remove(heap, block):
    """Take a block out of the heap."""
    place = np.int64(heap.place[block])
    follower = np.int64(heap.behind[block])
    heap.place[block] = ABSENT
    if place < 0:
        heap.behind[ABSENT - 1 - place] = follower
        if follower >= 0:
            heap.place[follower] = place
    elif follower >= 0:
        settle(heap, place, follower)
    else:
        heap.slots[0] -= 1
        if place < heap.slots[0]:
            settle(heap, place, heap.nodes[heap.slots[0]].block)


@helper
def clear(heap):
    """Take all blocks out.  O(blocks that there may be)."""
    heap.slots[0] = 0
    heap.place[:] = ABSENT


def listed(heap: Heap) -> list[tuple[int, int, int]]:
    """All (key, tie, block) in order, the heap's shape checked; for tests."""
    found = []
    for slot in range(heap.slots[0]):
        key, tie, block = (int(x) for x in heap.nodes[slot])
        assert heap.place[block] == slot, f"slot {slot} holds block {block}, which says {heap.place[block]}"
        assert tuple(heap.nodes[(slot - 1) // 2 if slot else 0]) <= (key, tie, block), (
            f"slot {slot} precedes its parent"
        )
        while block >= 0:
            assert (key, tie) <= tuple(heap.keys[block]), f"block {block} precedes the one it stands behind"
            key, tie = (int(x) for x in heap.keys[block])
            found.append((key, tie, block))
            follower = int(heap.behind[block])
            assert follower < 0 or heap.place[follower] == ABSENT - 1 - block, f"who stands behind block {block}?"
            block = follower
    assert np.count_nonzero(heap.place != ABSENT) == len(found), "a block that is in no queue"
    return sorted(found)
