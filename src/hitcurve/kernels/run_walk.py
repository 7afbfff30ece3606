"""What ``walk.py`` does for blocks, for runs: from the old end of a queue toward its front, past what is pinned.

The arriving request's spans are sorted and disjoint, so "pinned" is one interval test a run.  A run that is pinned in
part is split in place, and the last pinned run passed is remembered: an allocation meets each pinned stretch once.

    sentinel ── [ 112 113 114 ] ── [ 7 8 ] ── [ 40 41 42 43 ] ── ... ── front
                     pinned     ▲    pinned
                                passed (of this queue)            the next stretch to take
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import REQUEST
from hitcurve.kernels.planes import at_least, level_end, level_start
from hitcurve.kernels.runs import (
    LOW_IS_NEWER,
    continues,
    cut,
    end_of,
    front,
    is_sentinel,
    link,
    newer,
    push_front,
    put_front,
    run_at_or_below,
    sentinel,
    split,
    unlink,
)


class Pins(NamedTuple):
    """The arriving request's spans ``low .. high - 1``, sorted and disjoint: what a victim must not lie in."""

    first: np.ndarray
    length: np.ndarray
    low: int
    high: int


@helper
def pins_of(frame):
    r = frame.numbers[REQUEST]
    return Pins(frame.span_first, frame.span_length, frame.span_offsets[r], frame.span_offsets[r + 1])


@helper
def span_at_or_below(pins, block):
    """The last span that begins at or below ``block``, or ``low - 1``."""
    low, high = pins.low, pins.high
    while low < high:
        middle = (low + high) // 2
        if pins.first[middle] <= block:
            low = middle + 1
        else:
            high = middle
    return low - 1


@helper
def begin_walk(runs, passed):
    """An allocation begins: every queue is walked from its back again.  ``passed`` int64 (n_queues,)."""
    for q in range(len(passed)):
        passed[q] = sentinel(runs, q)


@part
def oldest_free(pins, runs, passed, q):
    """The oldest unpinned stretch ``(node, first, end)`` on walk q, still in its run; a sentinel if all is pinned.

    What is taken of it is to be taken from its oldest end.
    """
    node = newer(runs, passed[q])
    first = end = np.int64(0)
    while not is_sentinel(runs, node):
        first, end = np.int64(runs.nodes[node].first), end_of(runs, node)
        if runs.numbers[LOW_IS_NEWER]:
            s = span_at_or_below(pins, end - 1)
            stop = first if s < pins.low else np.int64(pins.first[s]) + pins.length[s]
            if stop < end:
                first = max(first, stop)
                break
            if pins.first[s] <= first:
                passed[q] = node
                node = newer(runs, node)
            else:
                passed[q] = split(runs, node, np.int64(pins.first[s]))
        else:
            s = span_at_or_below(pins, first)
            stop = first if s < pins.low else np.int64(pins.first[s]) + pins.length[s]
            if stop <= first:
                if s + 1 < pins.high:
                    end = min(end, np.int64(pins.first[s + 1]))
                break
            passed[q] = node
            node = newer(runs, node) if stop >= end else split(runs, node, stop)
    return node, first, end


@helper
def oldest_of(runs, first, end, most):
    """At most ``most`` blocks of a stretch, the oldest of it."""
    if end - first > most:
        if runs.numbers[LOW_IS_NEWER]:
            first = end - most
        else:
            end = first + most
    return first, end


@helper
def oldest_level(runs, planes, first, end, threshold):
    """The oldest part of a stretch whose counters all reach ``threshold``, or all do not: ``(reached, first, end)``."""
    block = end - 1 if runs.numbers[LOW_IS_NEWER] else first
    reached = (at_least(planes, block >> 6, threshold) >> np.uint64(block & 63)) & np.uint64(1) != 0
    if runs.numbers[LOW_IS_NEWER]:
        first = level_start(planes, first, end, threshold, reached)
    else:
        end = level_end(planes, first, end, threshold, reached)
    return reached, first, end


@part
def take_oldest(pins, runs, passed, q, most):
    """Cut the oldest unpinned blocks, at most ``most``, out of queue q: ``(first, end)``, empty if all is pinned."""
    node, first, end = oldest_free(pins, runs, passed, q)
    if is_sentinel(runs, node):
        return np.int64(0), np.int64(0)
    first, end = oldest_of(runs, first, end, most)
    cut(runs, node, first, end)
    return first, end


@helper
def push_on_walk(runs, passed, q, first, end):
    """``push_front`` during an allocation: never joins the run that the walk stands on."""
    if front(runs, q) == passed[q]:
        put_front(runs, q, first, end)
    else:
        push_front(runs, q, first, end)


@helper
def first_piece(runs, first, end):
    """The part of a stretch that is accessed first and stands in one run: ``(node, first, end)``."""
    if runs.numbers[LOW_IS_NEWER]:
        node = run_at_or_below(runs, end - 1)
        return node, max(first, np.int64(runs.nodes[node].first)), end
    node = run_at_or_below(runs, first)
    return node, first, min(end, end_of(runs, node))


@helper
def without_piece(runs, first, end, start, stop):
    """What is left of ``[first, end)`` after its first piece ``[start, stop)``."""
    if runs.numbers[LOW_IS_NEWER]:
        return first, start
    return stop, end


@part
def move_piece(runs, q, node, first, end):
    """Make ``[first, end)``, in the run of ``node``, the newest of queue q; a whole run is linked anew, no more."""
    if end - first == runs.nodes[node].length and not continues(runs, q, first, end):
        runs.size[runs.nodes[node].queue] -= end - first
        runs.size[q] += end - first
        runs.nodes[node].queue = q
        unlink(runs, node)
        link(runs, node, sentinel(runs, q))
    else:
        cut(runs, node, first, end)
        push_front(runs, q, first, end)


@part
def move_to_front(runs, q, first, end):
    """Make ``[first, end)``, all of which stands in queues of ``runs``, the newest blocks of queue q, in path order."""
    while first < end:
        node, start, stop = first_piece(runs, first, end)
        first, end = without_piece(runs, first, end, start, stop)
        move_piece(runs, q, node, start, stop)
