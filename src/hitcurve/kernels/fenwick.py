"""Fenwick tree: sums over a prefix of numbered places, places added at the end.

Sums are int64; what the tree itself is made of is the owner's choice.

``tree[i]`` (i from 1) holds the sum of the ``i & -i`` places that end at i:

    place    1  2  3  4  5  6  7  8
    tree[1] ──
    tree[2] ─────
    tree[3]       ──
    tree[4] ───────────
    tree[5]             ──
    tree[6]             ─────
    tree[7]                   ──
    tree[8] ───────────────────────

A place is appended from entries that exist already, so the tree grows with no rebuilding; ``tree[0]`` is unused.

Reference: Fenwick, "A new data structure for cumulative frequency tables", Software: Practice and Experience, 1994.
"""

from __future__ import annotations

from hitcurve._jit import helper


@helper
def append_place(tree, place, amount):
    """Put ``amount`` at ``place``, which must be the one after the last.  Amortised O(1)."""
    total = amount
    step = 1
    while place & step == 0:
        total += tree[place - step]
        step <<= 1
    tree[place] = total


@helper
def add_at(tree, places, place, amount):
    """Add ``amount`` at ``place``; ``places``: how many there are.  O(log places)."""
    while place <= places:
        tree[place] += amount
        place += place & -place


@helper
def sum_up_to(tree, place):
    """Sum of the places 1 .. ``place``.  O(log place)."""
    total = 0
    while place > 0:
        total += tree[place]
        place &= place - 1
    return total
