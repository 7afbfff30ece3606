"""Which blocks of a prefix tree are resident, and which of them may be evicted: set, and found from either end.

    node    ranks from the end that evictions begin at (here the head)       o drawable    . not

    0 1 2 3 4 5 6 7 8 9
    . . . o o . . . . o       the first one to go has rank 3
            └── 2 ──┘         its representative, 3 + 4 ranks on: rank 7 is not drawable, 9 is nearer than 4

Nodes with a drawable block are members of the tree, in the order in which they became members.  Ranks count all blocks
of a node, drawable or not.

Cost: spans O(stretches that they touch + blocks / 64), one block O(1) as a rule (see ``prefix_tree.py``), a search
O(stretches passed + blocks passed / 64).  EDGE keeps the stretches that ``first_to_go`` has passed from being passed
again until one of them is offered anew.
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import add, discard, has, part_of_word, popcount, stretch_end, stretch_start
from hitcurve.kernels.frame import DEEPEST_FIRST, PIN, REQUEST
from hitcurve.kernels.prefix_tree import (
    CHILDREN,
    DEPTH,
    DRAWABLE,
    EDGE,
    END,
    FIRST,
    LAST,
    NEXT,
    NODE,
    PREV,
    RESIDENT,
    depth_of,
    join,
    leave,
    prune,
    stretch_of,
    take_path,
)

ALL = np.int64(2**31)  # more blocks than there are; as a plain number it would be compiled for anew


@part
def serve_spans(tree, span_first, span_length, first_span, last_span, deepest_first, offered):
    """The blocks of these spans, a path that is known, are resident; those set aside, or all (``offered``), drawable.

    In the order of their access, which so is the order in which nodes become members.
    """
    for k in range(last_span - first_span):
        span = last_span - 1 - k if deepest_first else first_span + k
        first = np.int64(span_first[span])
        end = first + span_length[span]
        while first < end:
            s = stretch_of(tree, end - 1 if deepest_first else first)
            begin, stop = max(first, np.int64(tree.rows[s, FIRST])), min(end, np.int64(tree.rows[s, END]))
            came, gained = np.int64(0), np.int64(0)
            for w in range(begin >> 6, ((stop - 1) >> 6) + 1):
                these = part_of_word(w, begin, stop)
                came += popcount(these & ~tree.resident[w])
                tree.resident[w] |= these
                more = (these if offered else these & tree.aside[w]) & ~tree.drawable[w]
                gained += popcount(more)
                tree.drawable[w] |= more
                tree.aside[w] &= ~these
            tree.rows[tree.rows[s, NODE], RESIDENT] += came
            if gained:
                gain(tree, s, gained)
            first, end = (first, begin) if deepest_first else (stop, end)


@part
def set_spans_aside(tree, span_first, span_length, first_span, last_span):
    """No block of these spans may be evicted, until they are served."""
    for span in range(first_span, last_span):
        block = np.int64(span_first[span])
        end = block + span_length[span]
        while block < end:
            if has(tree.known, block):
                s = stretch_of(tree, block)
                stop = min(end, np.int64(tree.rows[s, END]))
                lost = np.int64(0)
                for w in range(block >> 6, ((stop - 1) >> 6) + 1):
                    these = tree.drawable[w] & part_of_word(w, block, stop)
                    tree.drawable[w] ^= these
                    tree.aside[w] |= these
                    lost += popcount(these)
                if lost:
                    lose(tree, np.int64(tree.rows[s, NODE]), lost)
            else:
                stop = stretch_end(tree.known, block, end, False)
            block = stop


@helper
def take_request(tree, frame, offered):
    """The arriving request's path is told, and its blocks are as good as served."""
    r = frame.numbers[REQUEST]
    begin, end = frame.span_offsets[r], frame.span_offsets[r + 1]
    take_path(tree, frame.span_first, frame.span_length, begin, end)
    serve_spans(tree, frame.span_first, frame.span_length, begin, end, frame.numbers[DEEPEST_FIRST], np.int64(offered))


@helper
def set_pinned_aside(tree, frame):
    """None of the arriving request's blocks may be evicted until it is served, where pins are on."""
    if frame.numbers[PIN]:
        r = frame.numbers[REQUEST]
        set_spans_aside(tree, frame.span_first, frame.span_length, frame.span_offsets[r], frame.span_offsets[r + 1])


@helper
def gain(tree, s, n):
    """``n`` more blocks of stretch ``s`` are drawable."""
    rows = tree.rows
    node = np.int64(rows[s, NODE])
    if rows[node, DRAWABLE] == 0:
        join(tree, node)
    rows[node, DRAWABLE] += n
    beyond = rows[s, DEPTH] - rows[rows[node, EDGE], DEPTH]
    if (beyond > 0) if tree.deep_end else (beyond < 0):
        rows[node, EDGE] = s


@helper
def lose(tree, node, n):
    tree.rows[node, DRAWABLE] -= n
    if tree.rows[node, DRAWABLE] == 0:
        leave(tree, node)


@part
def offer(tree, block):
    """A resident block may be evicted from now on."""
    add(tree.drawable, block)
    gain(tree, stretch_of(tree, block), 1)


@part
def expel(tree, block):
    """A block leaves the cache, and with it, maybe, its node the tree."""
    node = np.int64(tree.rows[stretch_of(tree, block), NODE])
    if has(tree.drawable, block):
        discard(tree.drawable, block)
        lose(tree, node, 1)
    discard(tree.resident, block)
    tree.rows[node, RESIDENT] -= 1
    if tree.rows[node, RESIDENT] == 0 and tree.rows[node, CHILDREN] == 0:
        prune(tree, node)


@part
def nearest_drawable(tree, s, block, most, upward):
    """Stretch and block: the first drawable one of the node from ``block`` of stretch ``s`` on, toward its head
    (``upward``) or its deep end, among the next ``most`` blocks; or -1 and any stretch.
    """
    found = np.int64(-1)
    while s >= 0 and most > 0:
        first, end = np.int64(tree.rows[s, FIRST]), np.int64(tree.rows[s, END])
        if upward:
            first, end = max(first, block + 1 - most), block + 1
            found = stretch_start(tree.drawable, first, end, False) - 1
        else:
            first, end = block, min(end, block + most)
            found = stretch_end(tree.drawable, first, end, False)
        if first <= found < end:
            break
        found = np.int64(-1)
        most -= end - first
        s = np.int64(tree.rows[s, PREV] if upward else tree.rows[s, NEXT])
        if s >= 0:
            block = np.int64(tree.rows[s, END]) - 1 if upward else np.int64(tree.rows[s, FIRST])
    return s, found


@helper
def begins_at(tree, s):
    """The block of a stretch with the lowest rank."""
    return np.int64(tree.rows[s, END]) - 1 if tree.deep_end else np.int64(tree.rows[s, FIRST])


@helper
def first_to_go(tree, node):
    """Stretch and block: the drawable one with the lowest rank, of a member."""
    s = np.int64(tree.rows[node, EDGE])
    s, block = nearest_drawable(tree, s, begins_at(tree, s), ALL, tree.deep_end)
    tree.rows[node, EDGE] = s
    return s, block


@part
def representative(tree, node, n, whole):
    """Block and depth: the drawable one that stands for ``n`` blocks to be evicted from a member.

    The one nearest to ``n // 2`` ranks on from the first one to go, or (``whole``) to rank ``min(n, blocks) // 2`` of
    the node; of two equally near ones that of lower rank.
    """
    rows = tree.rows
    if whole:
        last = np.int64(rows[node, LAST])
        steps = min(n, depth_of(tree, last, rows[last, END]) - rows[node, DEPTH]) // 2
        s = last if tree.deep_end else np.int64(node)
        block = begins_at(tree, s)
    else:
        steps = n // 2
        s, block = first_to_go(tree, node)
    while steps > 0:  # ranks on, or to the end
        move = min(steps, block - rows[s, FIRST] if tree.deep_end else rows[s, END] - 1 - block)
        block += -move if tree.deep_end else move
        steps -= move
        following = np.int64(rows[s, PREV] if tree.deep_end else rows[s, NEXT])
        if steps == 0 or following < 0:
            break
        steps -= 1
        s = following
        block = begins_at(tree, s)
    if not has(tree.drawable, block):
        middle = depth_of(tree, s, block)
        low_s, low = nearest_drawable(tree, s, block, ALL, 1 - tree.deep_end)
        nearer = abs(depth_of(tree, low_s, low) - middle) if low >= 0 else ALL
        high_s, high = nearest_drawable(tree, s, block, nearer, tree.deep_end)
        s, block = (high_s, high) if high >= 0 else (low_s, low)
    return block, depth_of(tree, s, block)
