"""A queue of runs whose used blocks go round: the main queue of s3fifo and qdlp."""

from __future__ import annotations

from hitcurve._jit import part
from hitcurve.kernels.planes import clamp, count_down
from hitcurve.kernels.run_walk import oldest_free, oldest_level, oldest_of, push_on_walk
from hitcurve.kernels.runs import cut, is_sentinel


@part
def take_unused(pins, runs, passed, q, planes, most):
    """Cut the oldest unpinned blocks with counter 0, at most ``most``, out of queue q: ``(first, end)``.

    Blocks with a counter above 0 that are older become the newest, at one less, and at most 2; an empty stretch if all
    is pinned.
    """
    while True:
        node, first, end = oldest_free(pins, runs, passed, q)
        if is_sentinel(runs, node):
            return first, first
        used, first, end = oldest_level(runs, planes, first, end, 1)
        if not used:
            first, end = oldest_of(runs, first, end, most)
            cut(runs, node, first, end)
            return first, end
        cut(runs, node, first, end)
        clamp(planes, first, end, 2)
        count_down(planes, first, end)
        push_on_walk(runs, passed, q, first, end)
