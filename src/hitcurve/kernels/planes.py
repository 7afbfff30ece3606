"""Small saturating counters, one a block, as bit planes: 64 counters are counted up or down at a time.

    block          0 1 2 3 ...
    planes[0, w]   1 0 1 0 ...     lowest bit of the counters of word w
    planes[1, w]   1 1 0 0 ...     next bit:   counters 3 2 1 0

With k planes a counter runs from 0 to 2**k - 1.  Ranges are half open; cost O(k x words touched).
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import from_bit, highest, lowest, upto_bit


def new_planes(n_blocks: int, n_planes: int) -> np.ndarray:
    """All counters 0."""
    return np.zeros((n_planes, n_blocks // 64 + 2), np.uint64)


@helper
def mask_of(w, first, end):
    """Bits of word w that lie in ``[first, end)``; w is one of its words."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF)
    if w == first >> 6:
        mask &= from_bit(first)
    if w == (end - 1) >> 6:
        mask &= upto_bit(end - 1)
    return mask


@part
def count_up(planes, first, end):
    """Add one to each counter that is not at its top."""
    for w in range(first >> 6, ((end - 1) >> 6) + 1):
        full = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(len(planes)):
            full &= planes[k, w]
        carry = mask_of(w, first, end) & ~full
        for k in range(len(planes)):
            before = planes[k, w]
            planes[k, w] = before ^ carry
            carry &= before


@part
def count_down(planes, first, end):
    """Take one from each counter that is not 0."""
    for w in range(first >> 6, ((end - 1) >> 6) + 1):
        some = np.uint64(0)
        for k in range(len(planes)):
            some |= planes[k, w]
        borrow = mask_of(w, first, end) & some
        for k in range(len(planes)):
            before = planes[k, w]
            planes[k, w] = before ^ borrow
            borrow &= ~before


@part
def set_to(planes, first, end, value):
    """Give all counters of a range one value."""
    for w in range(first >> 6, ((end - 1) >> 6) + 1):
        mask = mask_of(w, first, end)
        for k in range(len(planes)):
            if (value >> k) & 1:
                planes[k, w] |= mask
            else:
                planes[k, w] &= ~mask


@helper
def at_least(planes, w, threshold):
    """Bits of the counters of word w that are >= threshold."""
    above = np.uint64(0)
    equal = np.uint64(0xFFFFFFFFFFFFFFFF)
    for k in range(len(planes) - 1, -1, -1):
        plane = planes[k, w]
        if (threshold >> k) & 1:
            equal &= plane
        else:
            above |= equal & plane
            equal &= ~plane
    if threshold >> len(planes):
        equal = above = np.uint64(0)
    return above | equal


@helper
def counter(planes, block):
    """The counter of one block."""
    value = np.int64(0)
    for k in range(len(planes)):
        value |= np.int64((planes[k, block >> 6] >> np.uint64(block & 63)) & np.uint64(1)) << k
    return value


@part
def level_start(planes, first, end, threshold, reached):
    """Start of the stretch that ends before ``end`` with all counters ``>= threshold`` (``reached``) or all below."""
    w = (end - 1) >> 6
    member = at_least(planes, w, threshold)
    other = (~member if reached else member) & upto_bit(end - 1)
    stop = first >> 6
    while other == 0 and w > stop:
        w -= 1
        member = at_least(planes, w, threshold)
        other = ~member if reached else member
    return first if other == 0 else max(first, (w << 6) + highest(other) + 1)


@part
def level_end(planes, first, end, threshold, reached):
    """End of the stretch from ``first`` on with all counters ``>= threshold`` (``reached``) or all below."""
    w = first >> 6
    member = at_least(planes, w, threshold)
    other = (~member if reached else member) & from_bit(first)
    last = (end - 1) >> 6
    while other == 0 and w < last:
        w += 1
        member = at_least(planes, w, threshold)
        other = ~member if reached else member
    return end if other == 0 else min(end, (w << 6) + lowest(other))


@part
def clamp(planes, first, end, n):
    """Lower counters to the top of their lowest ``n`` planes, where they are above it."""
    for w in range(first >> 6, ((end - 1) >> 6) + 1):
        above = np.uint64(0)
        mask = mask_of(w, first, end)
        for k in range(n, len(planes)):
            above |= planes[k, w] & mask
            planes[k, w] &= ~mask
        for k in range(n):
            planes[k, w] |= above
