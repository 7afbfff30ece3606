"""Whether ids that are taken as they are still form a tree, found out while blocks are interned by path.

An id forms a tree with the others while it has one block before it, always the same, and occurs once in a request at
most: the *contract*.  Interned by path, a block is a pair (parent, raw id), so that the contract holds exactly as long
as no two blocks have one raw id.  Interning by path and looking at each new block once is faster than interning by raw
id, which looks up every block that a request leaves a chain for.

On a tree both numberings are the same.  So where ids stop forming one, the numbering goes on by raw id
(``by_raw_id``), from the last moment when they did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.trace.interning import Interner, rehash

BITS = 10  # of the slots to begin with


class Seen(NamedTuple):
    """A set of int64: open addressed, an empty slot holds 0.

    Values stand in the order of their mixed bits, so that moving them to more slots walks through both tables once.
    """

    n: np.ndarray  # int64 (2,): values in slots; 1 if 0 is in the set too
    slots: np.ndarray  # int64 (2**bits,)
    shift: np.ndarray  # uint64 (1,): 64 - bits


def new_seen(bits: int) -> Seen:
    return Seen(np.zeros(2, np.int64), np.zeros(1 << bits, np.int64), np.array([64 - bits], np.uint64))


@helper
def put(seen, value):
    """Add one value that is not 0; whether it was there."""
    mixed = np.uint64(value)
    mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> seen.shift[0])
    while seen.slots[slot] != 0 and seen.slots[slot] != value:
        slot = (slot + 1) & (len(seen.slots) - 1)
    there = seen.slots[slot] != 0
    seen.slots[slot] = value
    return there


@entry
def put_all(seen, values):
    """Add all ``values``; the number of those that were there before.  Room for them is the caller's duty."""
    repeats = 0
    for value in values:
        if value == 0:
            repeats += seen.n[1]
            seen.n[1] = 1
        elif put(seen, value):
            repeats += 1
        else:
            seen.n[0] += 1
    return repeats


@entry
def move(old, new):
    """Add all values of ``old`` to the empty, larger ``new``."""
    for value in old.slots:
        if value != 0:
            put(new, value)
    new.n[0], new.n[1] = old.n[0], old.n[1]


class SeenIds:
    """The raw ids of all blocks so far.  16 to 32 bytes each."""

    def __init__(self) -> None:
        self._seen = new_seen(BITS)

    def add(self, raw: np.ndarray) -> bool:
        """Add the raw ids of new blocks (int64); whether none of them was there before, nor occurs twice.  O(ids)."""
        need = 2 * (int(self._seen.n[0]) + len(raw))
        if need > len(self._seen.slots):
            larger = new_seen(need.bit_length())
            move(self._seen, larger)
            self._seen = larger
        return int(put_all(self._seen, raw)) == 0


def by_raw_id(interner: Interner, n_blocks: int) -> Interner:
    """An interner of raw ids that goes on from the first ``n_blocks`` blocks of one by path, whose ids form a tree.

    O(blocks x log depth).
    """
    path = interner.state
    parents = np.arange(-1, n_blocks - 1)
    entered = (path.table_block >= 0) & (path.table_block < n_blocks)
    parents[path.table_block[entered]] = path.table_key[entered]
    roots = parents.copy()
    while (inner := roots >= 0).any():
        roots[inner] = roots[roots[inner]]
    room = 1 << (2 * n_blocks).bit_length()
    state = path._replace(
        n=np.array([n_blocks, n_blocks, 0]),
        raw=path.raw[:n_blocks],
        starts=path.starts[:n_blocks],
        parents=parents,
        table_block=np.full(room, -1, np.int32),
        table_key=np.empty(room, np.int64),
    )
    rehash(state._replace(table_block=np.arange(n_blocks, dtype=np.int32), table_key=roots), state)
    return interner.going_on("raw", state)
