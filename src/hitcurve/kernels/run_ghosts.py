"""Queues of runs that remember blocks which are gone: entering, forgetting the oldest, leaving on return.

A block that is not resident and stands in a run is remembered: nobody else has to note it.
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import stretch_end
from hitcurve.kernels.run_walk import oldest_free, oldest_of, push_on_walk, without_piece
from hitcurve.kernels.runs import LOW_IS_NEWER, back, cut, end_of, is_sentinel, run_at_or_below, sentinel


@part
def remembered_piece(runs, first, end):
    """Of a stretch that is not resident, the part that is accessed first and that one run remembers, or none does.

    ``(node, first, end)``, the node -1 where it is not remembered.
    """
    block = end - 1 if runs.numbers[LOW_IS_NEWER] else first
    node = run_at_or_below(runs, block)
    start = stop = np.int64(0)
    if node >= 0:
        start, stop = np.int64(runs.nodes[node].first), end_of(runs, node)
    if stop <= block:
        node, start = np.int64(-1), stop
    if runs.numbers[LOW_IS_NEWER]:
        return node, max(first, start), end
    return node, first, min(end, stop) if node >= 0 else stretch_end(runs.starts, first, end, False)


@part
def recall(runs, first, end):
    """Of a stretch that is not resident, the part that is accessed first and is all remembered, or all not, out of the
    runs it stood in: ``(remembered, first, end)``."""
    node, start, stop = remembered_piece(runs, first, end)
    remembered, low, high = node >= 0, start, stop
    while node >= 0:
        cut(runs, node, start, stop)
        low, high = min(low, start), max(high, stop)
        first, end = without_piece(runs, first, end, start, stop)
        if first == end:
            break
        node, start, stop = remembered_piece(runs, first, end)
    return remembered, low, high


@part
def forget(pins, runs, passed, q, most):
    """Forget one stretch of the oldest blocks of queue q, at most ``most``: the unpinned ones first, and where all are
    pinned the very oldest block.  Return how many."""
    node, first, end = oldest_free(pins, runs, passed, q)
    if is_sentinel(runs, node):
        node = back(runs, q)
        first, end = oldest_of(runs, np.int64(runs.nodes[node].first), end_of(runs, node), 1)
        if node == passed[q] and runs.nodes[node].length == 1:
            passed[q] = sentinel(runs, q)
    else:
        first, end = oldest_of(runs, first, end, most)
    cut(runs, node, first, end)
    return end - first


@helper
def enter_ghosts(runs, passed, q, first, end, most):
    """Put the oldest blocks of ``[first, end)``, at most ``most``, into queue q; return what is left of the stretch."""
    start, stop = oldest_of(runs, first, end, most)
    push_on_walk(runs, passed, q, start, stop)
    return without_piece(runs, first, end, start, stop)


@part
def remember(pins, runs, passed, q, limit, first, end):
    """Put the blocks of ``[first, end)`` into queue q, the oldest first; each over ``limit`` makes it forget one."""
    while limit > 0 and first < end:
        most = limit - runs.size[q]
        if most <= 0:
            most = forget(pins, runs, passed, q, end - first)
        first, end = enter_ghosts(runs, passed, q, first, end, most)
