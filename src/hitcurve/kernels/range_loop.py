"""The request loop on ranges: what ``loop.py`` does block by block, for policies that keep runs in queues.

Residency is a bit set, a request is its spans, and everything happens to stretches of consecutive blocks:

    span        [ 40 ............................ 71 ]
    resident      1 1 1 1 1 1 1 1 0 0 0 0 1 1 1 1 1        three stretches: hit, hole, hit

Pins are on, and block identity is the path, so the spans of a request are sorted and disjoint: "pinned" is one interval
test a run.  ``docs/ranges.md`` shows why every count equals that of ``loop.py``.
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import add_range, discard_range, has, stretch_end, stretch_start
from hitcurve.kernels.frame import ARRIVING, CAPACITY, CLOCK, DEEPEST_FIRST, N_HOLES, OCCUPIED, REQUEST
from hitcurve.kernels.loop import NO_PROGRESS, OVER_CAPACITY
from hitcurve.kernels.matching import match_stretches


@helper
def stretch_at(resident, block, end):
    here = has(resident, block)
    return here, stretch_end(resident, block, end, here)


@part
def match(frame, r):
    """Fill the request's measures."""
    match_stretches(frame, r, stretch_at)


@helper
def replay_ranges(frame, state, begin, end, on_allocate, on_hit, on_insert, evict):
    """Serve requests ``begin`` .. ``end - 1``; return the next one to serve, or a negative code when a policy failed.

    ``on_allocate(state, frame)``                      victims are about to be asked for
    ``on_hit(state, frame, first, end)``               a resident stretch is accessed
    ``on_insert(state, frame, first, end)``            a stretch becomes resident
    ``evict(state, frame, needed)`` -> (first, end)    forget and return a stretch of victims, at most ``needed``, none
                                                       of them pinned; an empty one after a step that freed none

    Stretches come in the order of the access, and none leaves its span.  Stops early only where the hole log has no
    room for the next request.
    """
    numbers = frame.numbers
    capacity = numbers[CAPACITY]
    for r in range(begin, end):
        n = frame.blocks[r]
        if n > capacity:
            frame.served[r] = 0
            continue
        first_span, last_span = frame.span_offsets[r], frame.span_offsets[r + 1]
        if len(frame.hole_log) and numbers[N_HOLES] + (n + 1) // 2 > len(frame.hole_log):
            return r
        numbers[REQUEST] = r
        match(frame, r)
        numbers[ARRIVING] = numbers[CLOCK] + n
        missing = n - frame.hits[r]
        needed = missing - (capacity - numbers[OCCUPIED])
        if needed > 0:
            on_allocate(state, frame)
            frame.evictions[r] = needed
            idle = 0
            while needed > 0:
                first, stop = evict(state, frame, needed)
                idle += 1
                if idle > numbers[OCCUPIED] + 16:
                    return NO_PROGRESS
                if first < stop:
                    idle = 0
                    discard_range(frame.resident, first, stop)
                    numbers[OCCUPIED] -= stop - first
                    needed -= stop - first

        deepest_first = numbers[DEEPEST_FIRST] != 0
        for k in range(last_span - first_span):
            s = last_span - 1 - k if deepest_first else first_span + k
            low = np.int64(frame.span_first[s])
            high = low + frame.span_length[s]
            while low < high:
                if deepest_first:
                    here = has(frame.resident, high - 1)
                    start, stop = stretch_start(frame.resident, low, high, here), high
                    high = start
                else:
                    here = has(frame.resident, low)
                    start, stop = low, stretch_end(frame.resident, low, high, here)
                    low = stop
                if here:
                    on_hit(state, frame, start, stop)
                else:
                    add_range(frame.resident, start, stop)
                    on_insert(state, frame, start, stop)
        numbers[OCCUPIED] += missing
        numbers[CLOCK] = numbers[ARRIVING]
        if numbers[OCCUPIED] > capacity:
            return OVER_CAPACITY
    return end
