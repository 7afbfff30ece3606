"""The residents that no other resident stands on: leaves of the tree of paths, in order of rank.

A policy that lets only leaves go never keeps a block without the blocks before it, so what a request finds is always a
leading part of it, and there are no holes.

    a ── b ── c ── d      resident children: a 1, b 2, c 1
         └─── x           leaves: d and x, the one of the lowest (key, tie) goes first; then its parent may be a leaf

Every resident has a rank, as of its last access, and a leaf stands in the heap by it.  Requests bring whole paths, so
after each of them only its last block can be a new leaf, and of an arriving request's blocks at most one is a leaf.
Where ids form no tree, every block is a root and a leaf.

An access costs O(1), and O(log leaves) where it makes or unmakes a leaf: once a request, and once a victim.  With the
root accessed first a new block is a leaf until the next one comes.  4 bytes a block, and the heap.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import Context, is_pinned
from hitcurve.kernels.heap import ABSENT, Heap, first, listed, new_heap, push, remove, settle


class Leaves(NamedTuple):
    parent: np.ndarray  # int32 (n_blocks,): -1 at a root
    children: np.ndarray  # int32 (n_blocks,): resident children
    heap: Heap  # the leaves by rank; its ``keys`` are the ranks of all residents


def new_leaves(n_blocks: int, capacity: int, context: Context) -> Leaves:
    """Nobody is resident."""
    parent = context.parent if context.tree else np.full(n_blocks, -1, np.int32)
    return Leaves(parent, np.zeros(n_blocks, np.int32), new_heap(n_blocks, capacity))


@part
def enter(heap, block):
    """A block that is not in the heap enters by the rank it has."""
    push(heap, block, heap.keys[block].key, heap.keys[block].tie)


@part
def leave(heap, block):
    remove(heap, block)


@helper
def rank(leaves, block, key, tie):
    """A resident block ranks (key, tie) from now on."""
    if leaves.heap.place[block] != ABSENT:
        leave(leaves.heap, block)
    leaves.heap.keys[block].key = key
    leaves.heap.keys[block].tie = tie
    if leaves.children[block] == 0:
        enter(leaves.heap, block)


@helper
def grow(leaves, block, key, tie):
    """A block becomes resident and ranks (key, tie)."""
    parent = leaves.parent[block]
    if parent >= 0:
        leaves.children[parent] += 1
        if leaves.heap.place[parent] != ABSENT:
            leave(leaves.heap, parent)
    rank(leaves, block, key, tie)


@part
def prune(leaves, frame):
    """Take away the first leaf that is not pinned, and return it.  There is one.

    A pinned leaf comes back when it is ranked anew: the arriving request is going to access it.
    """
    heap = leaves.heap
    block = first(heap)
    while is_pinned(frame, block):
        remove(heap, block)
        block = first(heap)
    parent = np.int64(leaves.parent[block])
    if parent >= 0:
        leaves.children[parent] -= 1
    if parent < 0 or leaves.children[parent] > 0:
        remove(heap, block)
    elif heap.behind[block] >= 0:
        remove(heap, block)
        enter(heap, parent)
    else:  # in its place: the parent often goes next
        heap.place[block] = ABSENT
        heap.behind[parent] = -1
        settle(heap, np.int64(0), parent)
    return block


def check_leaves(leaves: Leaves, frame: Any) -> None:
    """Assert that nobody stands without its parent and that the heap holds the leaves; for tests."""
    resident = np.flatnonzero(frame.resident)
    parents = leaves.parent[resident]
    parents = parents[parents >= 0]
    assert frame.resident[parents].all(), "a block is resident without the one before it"
    children = np.bincount(parents, minlength=len(leaves.parent))
    assert (leaves.children == children).all(), "a count of children is wrong"
    nodes = listed(leaves.heap)
    assert sorted(block for _, _, block in nodes) == resident[children[resident] == 0].tolist()
    assert all(leaves.heap.keys[block].tolist() == (key, tie) for key, tie, block in nodes)
