"""Queues of runs that remember blocks which are gone: entering, forgetting the oldest, leaving on return."""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import add_range, discard_range, has, stretch_end, stretch_start
from hitcurve.kernels.run_walk import first_piece, oldest_free, oldest_of, push_on_walk, without_piece
from hitcurve.kernels.runs import LOW_IS_NEWER, back, cut, end_of, is_sentinel, sentinel


@helper
def remembered_piece(runs, ghosts, first, end):
    """The part of a stretch that is accessed first and is all remembered or all not: ``(remembered, first, end)``."""
    if runs.numbers[LOW_IS_NEWER]:
        here = has(ghosts, end - 1)
        return here, stretch_start(ghosts, first, end, here), end
    here = has(ghosts, first)
    return here, first, stretch_end(ghosts, first, end, here)


@part
def recall(runs, ghosts, first, end):
    """Take ``[first, end)``, all of it remembered, out of the runs it stands in."""
    discard_range(ghosts, first, end)
    while first < end:
        node, start, stop = first_piece(runs, first, end)
        first, end = without_piece(runs, first, end, start, stop)
        cut(runs, node, start, stop)


@part
def forget(pins, runs, passed, ghosts, q, most):
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
    discard_range(ghosts, first, end)
    return end - first


@helper
def enter_ghosts(runs, passed, ghosts, q, first, end, most):
    """Put the oldest blocks of ``[first, end)``, at most ``most``, into queue q; return what is left of the stretch."""
    start, stop = oldest_of(runs, first, end, most)
    push_on_walk(runs, passed, q, start, stop)
    add_range(ghosts, start, stop)
    return without_piece(runs, first, end, start, stop)


@part
def remember(pins, runs, passed, ghosts, q, limit, first, end):
    """Put the blocks of ``[first, end)`` into queue q, the oldest first; each over ``limit`` makes it forget one."""
    while limit > 0 and first < end:
        most = limit - runs.size[q]
        if most <= 0:
            most = forget(pins, runs, passed, ghosts, q, end - first)
        first, end = enter_ghosts(runs, passed, ghosts, q, first, end, most)
