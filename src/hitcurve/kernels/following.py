"""Following: what a walk down a request's path needs that goes from run to run of earlier requests.

A *run* is a stretch of a past request's path that no later request has touched since.  Where the walk leaves one run,
the next block, if it was seen before, is the first block of its owner's run; so a table from first blocks to owners
finds the way, and comparing spans tells how far both paths agree.

The table (fields ``table_block``, ``table_owner`` of the state) is open addressed and never deletes: a slot whose owner
is -1 is a block that begins no run now.
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper


@helper
def slot_of(runs, block):
    """The slot of a block: its own, or the empty one where it belongs."""
    mask = len(runs.table_block) - 1
    mixed = np.uint64(block) * np.uint64(0x9E3779B97F4A7C15)
    slot = np.int64(mixed >> np.uint64(32)) & mask
    while runs.table_block[slot] >= 0 and runs.table_block[slot] != block:
        slot = (slot + 1) & mask
    return slot


@helper
def own(runs, slot, block, request):
    if runs.table_block[slot] < 0:
        runs.table_block[slot] = block
    runs.table_owner[slot] = request


@helper
def common(requests, s, done, stop, t, skipped, t_stop, left):
    """How far two paths agree that stand at one and the same block; and where both stand then.

    A block is its whole path, and spans are maximal: where the spans at one distance from here begin with one block,
    all spans before them are equal.  So the last such pair is found by bisection, after a look at the farthest.
    """
    low, high = 0, min(stop - s, t_stop - t) - 1
    if requests.span_first[s + high] == requests.span_first[t + high]:
        low = high
    while low < high:
        middle = (low + high + 1) >> 1
        if requests.span_first[s + middle] == requests.span_first[t + middle]:
            low = middle
        else:
            high = middle - 1
    if low > 0:
        if low < t_stop - t - low:
            length = -done
            for i in range(s, s + low):
                length += requests.span_length[i]
        else:  # shorter to count what stays behind
            length = left
            for i in range(t + low, t_stop):
                length -= requests.span_length[i]
        done = skipped = 0
        s += low
        t += low
    else:
        length = 0
    step = min(requests.span_length[s] - done, requests.span_length[t] - skipped)
    length += step
    done += step
    skipped += step
    if done == requests.span_length[s]:
        s += 1
        done = 0
    if skipped == requests.span_length[t]:
        t += 1
        skipped = 0
    return length, s, done, t, skipped
