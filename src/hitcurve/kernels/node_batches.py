"""Eviction in batches from nodes of a prefix tree: draw some nodes, take the cheapest one's first blocks, draw again.

    call      of all blocks that are still needed; one more where victims were the request's own (pins off)
    batch     of a call, from one node: at most ``most`` blocks, fewer where the call or the node has no more

Nodes are drawn with replacement, or, where there are no more than ``n_sample``, all of them looked at in order.  A node
scores what its representative block scores; the lowest score is taken, the first one on ties.

Cost: a batch O(``n_sample`` searches), see ``tree_blocks.py``; a block of it O(1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper
from hitcurve.kernels.frame import needed_blocks
from hitcurve.kernels.prefix_tree import DRAWABLE, SIZE
from hitcurve.kernels.rng import below, seeded
from hitcurve.kernels.tree_blocks import expel, first_to_go, representative

# Places in Batches.numbers: blocks still wanted by the call and by the batch, its node, victims outside the request.
CALL, BATCH, NODE, OTHERS = range(4)


class Batches(NamedTuple):
    numbers: np.ndarray  # int64 (4,): see the places above
    random: np.ndarray  # see kernels/rng.py
    n_sample: int
    most: int
    whole: int  # 1: a representative is looked for from the end of its node, 0: from its first block to go


def new_batches(n_sample: int, most: int, whole: bool, seed: int) -> Batches:
    return Batches(np.zeros(4, np.int64), seeded(seed), n_sample, most, int(whole))


@helper
def begin_batches(batches):
    """An allocation begins."""
    for k in range(len(batches.numbers)):
        batches.numbers[k] = 0


@helper
def call_begins(batches, frame):
    """Before each victim: does the request loop ask anew?"""
    begins = batches.numbers[CALL] == 0
    if begins:
        batches.numbers[CALL] = needed_blocks(frame) - batches.numbers[OTHERS]
    return begins


@helper
def count_victim(batches, frame, block):
    batches.numbers[CALL] -= 1
    batches.numbers[OTHERS] += 1 - frame.requested[block]


@helper
def draw_node(state, frame, now, n, score):
    """The member whose representative for ``n`` blocks has the lowest score."""
    tree, batches = state.tree, state.batches
    size = tree.numbers[SIZE]
    all_of_them = size <= batches.n_sample
    chosen, lowest = np.int64(-1), np.inf
    for k in range(size if all_of_them else batches.n_sample):
        node = np.int64(tree.members[k if all_of_them else below(batches.random, size)])
        block, depth = representative(tree, node, n, batches.whole)
        value = score(state, frame, block, depth, now)
        if value < lowest:
            chosen, lowest = node, value
    return chosen


@helper
def evict_from_node(state, frame, now, score):
    """The next block of the batch, or of a new one, expelled; the tree has a member.

    ``state`` has ``tree`` and ``batches``; ``score(state, frame, block, depth, now)``: lower is evicted.
    """
    tree, batches = state.tree, state.batches
    if batches.numbers[BATCH] == 0:
        n = min(batches.numbers[CALL], batches.most)
        batches.numbers[BATCH] = n
        batches.numbers[NODE] = draw_node(state, frame, now, n, score)
    node = batches.numbers[NODE]
    _, block = first_to_go(tree, node)
    batches.numbers[BATCH] = 0 if tree.rows[node, DRAWABLE] == 1 else batches.numbers[BATCH] - 1
    expel(tree, block)
    count_victim(batches, frame, block)
    return block
