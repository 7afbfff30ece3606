"""A path-compressed prefix tree over dense block ids, in stretches of consecutive ids, with counts of residents.

    paths told          nodes                              7, 6, 5 forgotten, and 0 1 2 5 6 7 told again

    0 1 2 3 4           0-2 ─┬─ 3-4 ─── 8-9                0-2 ─┬─ 3-4 ─── 8-9
    0 1 2 5 6                └─ 5-6 ─── 7                       └─ 5-7
    0 1 2 5 6 7
    0 1 2 3 4 8 9       the last path, told to an empty tree: one node of two stretches, 0-4 8-9

    stretch     row: blocks FIRST .. END - 1; PREV and NEXT stretch of its node; NODE; DEPTH of its first block
    node        row of its first stretch: what a path brought from where it left the known, up to the next branch
    known       bit set: blocks in the tree, each in one node         starts     bit set: first blocks of stretches
    resident    bit set: blocks in the cache                          drawable   bit set: those that may be evicted
    aside       bit set: those that may be evicted again once the arriving request is served
    members     nodes with a drawable block, each at its SLOT; a gap is filled by the last one

A path is told (``take_path``) before its blocks are accessed, so every resident block is known.  Only an unknown block
behind the middle of a node cuts it there; the lower part keeps the children.  A path that ends inside a node cuts
nothing.  A node without children goes with its last resident block, and so do those above it that are left with
neither; a part that was cut off without residents waits for that until it had one.

Where ids form no tree, a block stays on the path that brought it, and other paths go on from there.

Cost: a path O(its spans + nodes), a cut O(stretches of the node + blocks above the cut / 64); finding the stretch of a
block O(1), or O(its stretch / 64) where the last block asked for was in another.  Memory: 4.6 bytes a block and 52 a
stretch in use; the arrays are laid out for the most stretches there can be, and the system gives memory to what is
touched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import (
    add,
    add_range,
    count_range,
    discard,
    discard_range,
    has,
    nearest_at_or_below,
    new_bits,
    stretch_end,
)
from hitcurve.kernels.bits import members as blocks_of

# Columns of a stretch, then those of a node, in the row of its first stretch.
FIRST, END, NEXT, PREV, NODE, DEPTH = range(6)
ABOVE, LAST, CHILDREN, RESIDENT, DRAWABLE, SLOT, EDGE = range(6, 13)
FREED, USED, SIZE, FOUND = range(4)  # places in PrefixTree.numbers


class PrefixTree(NamedTuple):
    """``ABOVE`` is the last block of the parent, or -1; ``EDGE`` a stretch: nothing drawable is nearer to the end of
    the node that evictions begin at.  ``numbers``: first freed row or -1, rows ever used, members, last stretch found.
    """

    rows: np.ndarray  # int32 (n_blocks + 1, 13)
    at: np.ndarray  # int32 (n_blocks,): row of the stretch that begins at the block, where ``starts`` has it
    known: np.ndarray  # uint64, as the other bit sets
    starts: np.ndarray
    resident: np.ndarray
    drawable: np.ndarray
    aside: np.ndarray
    members: np.ndarray  # int32 (capacity + 1,)
    numbers: np.ndarray  # int64 (4,)
    deep_end: int  # 1: evictions begin at the deep end of a node, 0: at its head


def new_prefix_tree(n_blocks: int, capacity: int, deep_end: bool) -> PrefixTree:
    """The tree that knows no path, for a cache of ``capacity`` blocks."""
    rows = np.empty((n_blocks + 1, 13), np.int32)
    rows[0] = 0
    known, starts, resident, drawable, aside = (new_bits(n_blocks) for _ in range(5))
    return PrefixTree(
        rows,
        np.empty(n_blocks, np.int32),
        known,
        starts,
        resident,
        drawable,
        aside,
        members=np.zeros(min(capacity, n_blocks) + 1, np.int32),
        numbers=np.array([-1, 0, 0, 0], np.int64),
        deep_end=int(deep_end),
    )


@helper
def stretch_of(tree, block):
    """The row of the stretch that holds a known block."""
    s = tree.numbers[FOUND]
    if block < tree.rows[s, FIRST] or block >= tree.rows[s, END]:
        s = look_up(tree, np.int64(block))
    return s


@part
def look_up(tree, block):
    s = np.int64(tree.at[nearest_at_or_below(tree.starts, block)])
    tree.numbers[FOUND] = s
    return s


@helper
def new_stretch(tree, first, end, depth):
    s = tree.numbers[FREED]
    if s >= 0:
        tree.numbers[FREED] = tree.rows[s, NEXT]
    else:
        s = tree.numbers[USED]
        tree.numbers[USED] = s + 1
    tree.rows[s, FIRST] = first
    tree.rows[s, END] = end
    tree.rows[s, DEPTH] = depth
    tree.rows[s, NEXT] = -1
    tree.rows[s, PREV] = -1
    tree.at[first] = s
    add(tree.starts, first)
    return s


@helper
def depth_of(tree, s, block):
    """Depth of a block of stretch ``s``: its position in the path that brought it."""
    return tree.rows[s, DEPTH] + block - tree.rows[s, FIRST]


@helper
def join(tree, node):
    size = tree.numbers[SIZE]
    tree.members[size] = node
    tree.rows[node, SLOT] = size
    tree.numbers[SIZE] = size + 1


@helper
def leave(tree, node):
    size = tree.numbers[SIZE] - 1
    slot = tree.rows[node, SLOT]
    tree.members[slot] = tree.members[size]
    tree.rows[tree.members[slot], SLOT] = slot
    tree.rows[node, SLOT] = -1
    tree.numbers[SIZE] = size


@part
def take_path(tree, span_first, span_length, first_span, last_span):
    """The path in these spans becomes known."""
    rows = tree.rows
    here, passed = np.int64(-1), np.int64(0)  # the stretch that the path has reached, and the end of what it took of it
    growing = np.int64(-1)  # the node of blocks that it brings
    position = np.int64(0)
    for span in range(first_span, last_span):
        block = np.int64(span_first[span])
        end = block + span_length[span]
        while block < end:
            if has(tree.known, block):
                here = stretch_of(tree, block)
                passed = min(end, np.int64(rows[here, END]))
                growing = np.int64(-1)
            else:
                above = passed - 1 if here >= 0 else np.int64(-1)
                if here >= 0 and growing < 0 and (passed < rows[here, END] or rows[here, NEXT] >= 0):
                    cut(tree, here, passed)
                passed = stretch_end(tree.known, block, end, False)
                add_range(tree.known, block, passed)
                before, here = here, new_stretch(tree, block, passed, position)
                if growing < 0:
                    if above >= 0:
                        rows[rows[before, NODE], CHILDREN] += 1
                    growing = here
                    set_node(tree, here, above, here, 0, 0, 0)
                else:
                    rows[before, NEXT] = here
                    rows[here, PREV] = before
                    rows[growing, LAST] = here
                rows[here, NODE] = growing
            position += passed - block
            block = passed


@helper
def set_node(tree, node, above, last, children, resident, drawable):
    tree.rows[node, ABOVE] = above
    tree.rows[node, LAST] = last
    tree.rows[node, CHILDREN] = children
    tree.rows[node, RESIDENT] = resident
    tree.rows[node, DRAWABLE] = drawable
    tree.rows[node, SLOT] = -1
    set_edge(tree, node)


@helper
def set_edge(tree, node):
    """Nothing is known of what is drawable in the node."""
    tree.rows[node, EDGE] = tree.rows[node, LAST] if tree.deep_end else node


@part
def cut(tree, here, stop):
    """The node ends with block ``stop - 1`` of stretch ``here``; what followed becomes its only child."""
    rows = tree.rows
    upper, below = rows[here, NODE], np.int64(rows[here, NEXT])
    last = np.int64(rows[upper, LAST])
    if stop < rows[here, END]:
        lower = new_stretch(tree, stop, rows[here, END], depth_of(tree, here, stop))
        rows[lower, NEXT] = below
        if below >= 0:
            rows[below, PREV] = lower
        else:
            last = lower
        rows[here, END] = stop
    else:
        lower = below
        rows[lower, PREV] = -1
    rows[here, NEXT] = -1
    resident = drawable = 0
    s = here
    while s >= 0:
        resident += count_range(tree.resident, np.int64(rows[s, FIRST]), np.int64(rows[s, END]))
        drawable += count_range(tree.drawable, np.int64(rows[s, FIRST]), np.int64(rows[s, END]))
        s = np.int64(rows[s, PREV])
    s = lower
    while s >= 0:
        rows[s, NODE] = lower
        s = np.int64(rows[s, NEXT])
    set_node(
        tree, lower, stop - 1, last, rows[upper, CHILDREN], rows[upper, RESIDENT] - resident,
        rows[upper, DRAWABLE] - drawable,
    )  # fmt: skip
    if rows[lower, DRAWABLE] > 0:
        join(tree, lower)
    if drawable == 0 and rows[upper, DRAWABLE] > 0:
        leave(tree, upper)
    rows[upper, LAST] = here
    rows[upper, CHILDREN] = 1
    rows[upper, RESIDENT] = resident
    rows[upper, DRAWABLE] = drawable
    set_edge(tree, upper)


@part
def prune(tree, node):
    """Forget a node that has neither residents nor children, and those above it that are left without."""
    rows = tree.rows
    while rows[node, RESIDENT] == 0 and rows[node, CHILDREN] == 0:
        above = np.int64(rows[node, ABOVE])
        s = np.int64(node)
        while s >= 0:
            below = np.int64(rows[s, NEXT])
            discard(tree.starts, np.int64(rows[s, FIRST]))
            discard_range(tree.known, np.int64(rows[s, FIRST]), np.int64(rows[s, END]))
            rows[s, END] = rows[s, FIRST]
            rows[s, NEXT] = tree.numbers[FREED]
            tree.numbers[FREED] = s
            s = below
        if above < 0:
            break
        node = np.int64(rows[stretch_of(tree, above), NODE])
        rows[node, CHILDREN] -= 1


def listed(tree: PrefixTree) -> list[tuple[list[int], int]]:
    """The blocks of every node in order of depth, and the block above it (-1: none); all links and counts checked.

    Nodes in order of their first block.  For tests.
    """
    known, resident, drawable = (set(blocks_of(words)) for words in (tree.known, tree.resident, tree.drawable))
    rows = {int(tree.at[first]): tree.rows[tree.at[first]].tolist() for first in blocks_of(tree.starts)}
    nodes = {node: row for node, row in rows.items() if row[NODE] == node}
    ending_with = {rows[row[LAST]][END] - 1: node for node, row in nodes.items()}
    found, children, inside = [], dict.fromkeys(nodes, 0), set[int]()
    for node, row in nodes.items():
        blocks: list[int] = []
        s, before = node, -1
        while s >= 0:
            own = rows[s]
            assert own[FIRST] < own[END] and own[PREV] == before and own[NODE] == node, f"stretch {own}"
            assert own[DEPTH] == row[DEPTH] + len(blocks), f"depth in stretch {own}"
            blocks += range(own[FIRST], own[END])
            s, before = own[NEXT], s
        assert row[LAST] == before and inside.isdisjoint(blocks), f"node {row}"
        inside.update(blocks)
        assert row[RESIDENT] == len(resident.intersection(blocks)), f"node {row}, residents"
        assert row[DRAWABLE] == len(drawable.intersection(blocks)), f"node {row}, drawable"
        assert (row[SLOT] >= 0) == (row[DRAWABLE] > 0), f"node {row}: is it a member?"
        if row[ABOVE] >= 0:
            assert row[ABOVE] in ending_with, f"node {row} hangs inside its parent"
            children[ending_with[row[ABOVE]]] += 1
        found.append((blocks, row[ABOVE]))
    assert inside == known >= resident >= drawable
    assert all(row[CHILDREN] == children[node] for node, row in nodes.items()), "a count of children is wrong"
    order = tree.members[: tree.numbers[SIZE]].tolist()
    assert [rows[node][SLOT] for node in order] == list(range(len(order))), "a member's slot is wrong"
    return found
