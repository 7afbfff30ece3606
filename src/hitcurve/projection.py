"""The projector: facts and a capacity in, hits out.  The only place where a capacity meets a threshold.

A segment ``(start, length, age)`` holds the thresholds ``start, start + 1, ... start + length - 1``, one a block.  At
capacity C and time to live T a block hits iff its threshold <= C and, for it and all blocks before it in its request,
age < T.  Thresholds rise along a request, so the hits are its leading blocks.

Where blocks are not all of one size, facts are byte points ``(capacity, hits)``: the hits at C bytes are those of the
last point with capacity <= C; points whose age is not less than T, and all behind them, are dead.

Bytes become blocks here too, by one floor division (``whole_blocks``), and nowhere else.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import entry
from hitcurve.errors import BadParameter

INFINITE = 2**63 - 1  # larger than every threshold and every age


def whole_blocks(capacity_bytes: int, block_bytes: int) -> int:
    """Blocks that fit whole into so many bytes.

    >>> [whole_blocks(b, 4096) for b in (0, 8191, 8192)]
    [0, 1, 2]
    """
    if block_bytes < 1:
        raise BadParameter(f"block_bytes: wanted at least 1, found {block_bytes}")
    return capacity_bytes // block_bytes


def blocks_of(capacity: Any, unit: str = "blocks") -> int:
    """A capacity in blocks (or in the ``unit`` named) as a whole number >= 0; None and inf are ``INFINITE``."""
    if capacity is None or capacity == math.inf:
        return INFINITE
    try:
        blocks = int(capacity)
    except (TypeError, ValueError):
        blocks = -1
    if blocks < 0 or blocks != capacity or isinstance(capacity, bool):
        raise BadParameter(f"capacity: wanted {unit} >= 0, or None for infinite, found {capacity!r}")
    return min(blocks, INFINITE)


def ttl_in_ns(ttl: Any) -> int:
    """A time to live in seconds as whole nanoseconds; None and inf are ``INFINITE``.

    >>> ttl_in_ns(0.3), ttl_in_ns(None) == INFINITE
    (300000000, True)
    """
    if ttl is None or ttl == math.inf:
        return INFINITE
    try:
        nanoseconds = round(Fraction(ttl.item() if isinstance(ttl, np.generic) else ttl) * 1_000_000_000)
    except (TypeError, ValueError, ZeroDivisionError):
        nanoseconds = -1
    if nanoseconds < 0 or (nanoseconds == 0 and ttl > 0) or isinstance(ttl, bool | str):
        raise BadParameter(f"ttl: wanted seconds, 0 or at least a nanosecond, or None for no limit, found {ttl!r}")
    return min(nanoseconds, INFINITE)


def alive_ends(offsets: np.ndarray, age_ns: np.ndarray, ttl_ns: int | np.ndarray) -> np.ndarray:
    """int64 (requests,): where the leading segments with age < ``ttl_ns`` (int64 (requests,), or one for all) end."""
    limit = np.repeat(ttl_ns, np.diff(offsets)) if isinstance(ttl_ns, np.ndarray) else ttl_ns
    expired = np.append(np.flatnonzero(age_ns >= limit), INFINITE)
    return np.minimum(offsets[1:], expired[np.searchsorted(expired, offsets[:-1])])


def alive(offsets: np.ndarray, age_ns: np.ndarray, ttl_ns: int | np.ndarray) -> np.ndarray:
    """bool (segments,): before the first segment of its request with age >= ``ttl_ns``."""
    return np.arange(len(age_ns)) < np.repeat(alive_ends(offsets, age_ns, ttl_ns), np.diff(offsets))


def hits_per_request(
    offsets: np.ndarray, start: np.ndarray, length: np.ndarray, age_ns: np.ndarray, blocks: int, ttl_ns: int
) -> np.ndarray:
    """int64 (requests,): leading hit blocks of each request.  O(segments + requests)."""
    hits = np.clip(blocks - start + 1, 0, length)
    if ttl_ns < INFINITE:
        hits *= alive(offsets, age_ns, ttl_ns)
    total = np.concatenate([[0], np.cumsum(hits)])
    return total[offsets[1:]] - total[offsets[:-1]]


def hits_at(
    offsets: np.ndarray,
    ends: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    in_bytes: np.ndarray,
    limits: np.ndarray,
) -> np.ndarray:
    """int64 (requests, capacities): leading hit blocks of each request at each of its capacities.

    Request r has the pairs ``offsets[r]:ends[r]``, ascending.  ``in_bytes[r]`` False: segments (start, length), and
    ``limits[r]`` are blocks.  True: byte points (capacity, hit blocks from there on), and they are bytes.
    ``limits``: int64 (requests, capacities).  O(pairs x capacities).
    """
    hits = np.empty(limits.shape, np.int64)
    count_hits(offsets, ends, first, second, in_bytes, limits, hits)
    return hits


@entry
def count_hits(offsets, ends, first, second, in_bytes, limits, hits):
    """``hits_at``."""
    for r in range(len(limits)):
        for k in range(limits.shape[1]):
            limit = limits[r, k]
            so_far = 0
            for i in range(offsets[r], ends[r]):
                if first[i] > limit:
                    break
                so_far = second[i] if in_bytes[r] else so_far + min(second[i], limit - first[i] + 1)
            hits[r, k] = so_far


class HitCurve(NamedTuple):
    """Hits at every capacity: from ``knot[i]`` to the next, each block of capacity adds ``slope[i]`` hits.

    All int64 (knots,), knots ascending; ``below[i]``: hits at capacity ``knot[i] - 1``.  The last slope is 0.
    """

    knot: np.ndarray
    slope: np.ndarray
    below: np.ndarray

    @classmethod
    def of(cls, start: np.ndarray, length: np.ndarray, weight: np.ndarray | None = None) -> HitCurve:
        """Of all thresholds of all segments, each counted ``weight`` times (default once).  O(segments x log)."""
        n = 2 * len(start)
        if weight is None:
            events = np.sort(np.concatenate([2 * start, 2 * (start + length) + 1]))
            changes = np.empty(0, np.int64)
        else:
            capacities = np.concatenate([start, start + length])
            order = np.argsort(capacities, kind="stable")
            events, changes = 2 * capacities[order], np.concatenate([weight, -weight])[order]
        curve = cls(*(np.zeros(max(n, 1), np.int64) for _ in range(3)))
        knots = add_up(events, changes, curve)
        return cls(*(column[:knots] for column in curve))

    @property
    def most(self) -> int:
        """Hits at infinite capacity."""
        return int(self.below[-1])

    def at(self, capacities: np.ndarray) -> np.ndarray:
        """Hits at each of these capacities (int64 >= 0, any order).  O(capacities x log knots)."""
        i = np.searchsorted(self.knot, capacities, side="right") - 1
        inside = np.minimum(capacities, self.knot[-1]) - self.knot[i] + 1
        return np.where(i < 0, 0, self.below[i] + self.slope[i] * inside)

    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Every capacity at which hits rise, ascending, and the hits from there on; both int64.  O(capacities)."""
        rows = int(np.diff(self.knot)[self.slope[:-1] > 0].sum())
        capacities, hits = np.empty(rows, np.int64), np.empty(rows, np.int64)
        step_up(self, capacities, hits)
        return capacities, hits

    def along(self, capacities: np.ndarray) -> np.ndarray:
        """``at`` for ascending capacities.  O(capacities + knots)."""
        hits = np.empty(len(capacities), np.int64)
        walk_along(self, capacities, hits)
        return hits

    def smallest(self, hits: int) -> int | None:
        """The smallest capacity with at least so many hits; None where there is none."""
        if hits <= 0:
            return 0
        if hits > self.most:
            return None
        i = int(np.searchsorted(self.below, hits)) - 1
        missing = hits - int(self.below[i])
        return int(self.knot[i]) + -(-missing // int(self.slope[i])) - 1


@entry
def add_up(events, changes, curve):
    """Write the curve of sorted ``events`` (twice a capacity; odd where a threshold stops counting); return its knots.

    ``changes``: what each event adds to the slope; empty for one more, and one less where odd.
    """
    n = 0
    slope = 0
    for i in range(len(events)):
        capacity = events[i] >> 1
        if n == 0:
            curve.knot[0] = capacity
            n = 1
        elif curve.knot[n - 1] != capacity:
            curve.below[n] = curve.below[n - 1] + slope * (capacity - curve.knot[n - 1])
            curve.knot[n] = capacity
            n += 1
        slope += changes[i] if len(changes) else 1 - 2 * (events[i] & 1)
        curve.slope[n - 1] = slope
    return max(n, 1)


@entry
def step_up(curve, capacities, hits):
    row = 0
    for i in range(len(curve.knot) - 1):
        if curve.slope[i] > 0:
            so_far = curve.below[i]
            for capacity in range(curve.knot[i], curve.knot[i + 1]):
                so_far += curve.slope[i]
                capacities[row] = capacity
                hits[row] = so_far
                row += 1


@entry
def walk_along(curve, capacities, hits):
    i = -1
    for row in range(len(capacities)):
        while i + 1 < len(curve.knot) and curve.knot[i + 1] <= capacities[row]:
            i += 1
        hits[row] = 0
        if i >= 0:
            hits[row] = curve.below[i] + curve.slope[i] * (capacities[row] - curve.knot[i] + 1)
