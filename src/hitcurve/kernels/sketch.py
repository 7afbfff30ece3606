"""A counting Bloom filter: about how often each block was added, in a fixed number of counters.

A block has ten counters, at places ``(a + i * b) modulo counters`` for i = 0 .. 9.  Adding it increments all of them
(a place that comes twice, twice); the estimate is the smallest, and never less than the truth.  Halving all counters
forgets what is long past.  14.38 counters an entry: 57.5 bytes.

a and b are the low and high 32 bits of splitmix64's number ``block + 1`` from seed 0 (see ``rng.py``).
Bonomi et al., "An Improved Construction for Counting Bloom Filters", ESA 2006; the places after Kirsch, Mitzenmacher,
"Less Hashing, Same Performance", ESA 2006.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.rng import GOLDEN, mixed

ERROR = 0.001  # share of blocks never added whose estimate is not 0, with as many distinct blocks added as entries
COUNTERS_PER_ENTRY = -math.log(ERROR) / math.log(2) ** 2
HASHES = math.ceil(math.log(2) * COUNTERS_PER_ENTRY)


class Sketch(NamedTuple):
    """``counters`` uint32 (n_counters,); ``since`` int64 (1,): steps of age since the counters were halved."""

    counters: np.ndarray
    since: np.ndarray


def new_sketch(entries: int) -> Sketch:
    """Nothing added yet; sized for ``entries`` distinct blocks, at least one."""
    return Sketch(np.zeros(math.ceil(COUNTERS_PER_ENTRY * max(1, entries)), np.uint32), np.zeros(1, np.int64))


@helper
def first_and_step(sketch, block):
    """Place of the block's first counter, and the distance to each next one, round the end."""
    n = len(sketch.counters)
    bits = mixed(np.uint64(block + 1) * np.uint64(GOLDEN))
    return np.int64(bits & np.uint64(0xFFFFFFFF)) % n, np.int64(bits >> np.uint64(32)) % n


@entry
def add(sketch, block):
    """Count one occurrence of an int64 block."""
    n = len(sketch.counters)
    place, step = first_and_step(sketch, block)
    for _ in range(HASHES):
        sketch.counters[place] += np.uint32(1)
        place += step
        if place >= n:
            place -= n


@entry
def estimate(sketch, block):
    """At least the number of times that an int64 block was added, halvings applied."""
    n = len(sketch.counters)
    place, step = first_and_step(sketch, block)
    least = np.int64(sketch.counters[place])
    for _ in range(HASHES - 1):
        place += step
        if place >= n:
            place -= n
        least = min(least, np.int64(sketch.counters[place]))
    return least


@entry
def age(sketch, period):
    """One step of age; at every ``period``-th all counters are halved, downward.  Amortised O(counters / period)."""
    sketch.since[0] += 1
    if sketch.since[0] >= period:
        sketch.since[0] = 0
        for place in range(len(sketch.counters)):
            sketch.counters[place] >>= np.uint32(1)
