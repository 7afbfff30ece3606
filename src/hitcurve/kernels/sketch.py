"""A counting Bloom filter: about how often each block was added, in a fixed number of counters.

Counters stand in rows of sixteen, and a block's counters in column ``block modulo 16`` of ten rows: those numbered
``(a + i * b) modulo rows`` for i = 0 .. 9, where a and b are drawn for ``block // 16``.  So each column is a filter of
its own with a sixteenth of the blocks, and the next block of a request finds its counters beside those of the last.

Adding a block increments all its counters (a row that comes twice, twice); the estimate is the smallest, and never less
than the truth.  Halving all counters forgets what is long past.  14.38 counters an entry: 57.5 bytes.

a and b are the low and high 32 bits of splitmix64's number ``block // 16 + 1`` from seed 0 (see ``rng.py``), each times
rows, divided by 2**32.
Bonomi et al., "An Improved Construction for Counting Bloom Filters", ESA 2006; the rows after Kirsch, Mitzenmacher,
"Less Hashing, Same Performance: Building a Better Bloom Filter", ESA 2006.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.rng import GOLDEN, mixed

ERROR = 0.001  # share of blocks never added whose estimate is not 0, with as many distinct blocks added as entries
COUNTERS_PER_ENTRY = -math.log(ERROR) / math.log(2) ** 2
COLUMNS = 16
HASHES = math.ceil(math.log(2) * COUNTERS_PER_ENTRY)


class Sketch(NamedTuple):
    """``counters`` uint32 (rows, 16); ``since`` int64 (1,): steps of age since the counters were halved."""

    counters: np.ndarray
    since: np.ndarray


def new_sketch(entries: int) -> Sketch:
    """Nothing added yet; sized for ``entries`` distinct blocks, fewer than 2**31."""
    rows = max(1, math.ceil(COUNTERS_PER_ENTRY * entries / COLUMNS))
    return Sketch(np.zeros((rows, COLUMNS), np.uint32), np.zeros(1, np.int64))


@helper
def first_and_step(sketch, block):
    """The block's first row, and the distance to each next one, round the end."""
    rows = np.uint64(len(sketch.counters))
    bits = mixed(np.uint64(block // COLUMNS + 1) * np.uint64(GOLDEN))
    first = (bits & np.uint64(0xFFFFFFFF)) * rows >> np.uint64(32)
    step = (bits >> np.uint64(32)) * rows >> np.uint64(32)
    return np.int64(first), np.int64(step)


@part
def add(sketch, block):
    """Count one occurrence of an int64 block."""
    rows, column = len(sketch.counters), block % COLUMNS
    row, step = first_and_step(sketch, block)
    for _ in range(HASHES):
        sketch.counters[row, column] += np.uint32(1)
        row += step
        if row >= rows:
            row -= rows


@part
def estimate(sketch, block):
    """At least the number of times that an int64 block was added, halvings applied."""
    rows, column = len(sketch.counters), block % COLUMNS
    row, step = first_and_step(sketch, block)
    least = np.int64(sketch.counters[row, column])
    for _ in range(HASHES - 1):
        row += step
        if row >= rows:
            row -= rows
        least = min(least, np.int64(sketch.counters[row, column]))
    return least


@part
def age(sketch, period):
    """One step of age; at every ``period``-th all counters are halved, downward.  Amortised O(counters / period)."""
    sketch.since[0] += 1
    if sketch.since[0] >= period:
        sketch.since[0] = 0
        for row in range(len(sketch.counters)):
            for column in range(COLUMNS):
                sketch.counters[row, column] >>= np.uint32(1)
