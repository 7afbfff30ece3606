"""The projector: facts and a capacity in, hits out.  Here alone a capacity meets a threshold (at all of them at once:
``lru/hit_curve``; points of hybrid models kept as progressions: ``lru/byte_projection``), and nothing here waits for a
compiler.

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
from typing import Any

import numpy as np

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
    kept = np.arange(len(first)) < np.repeat(ends, np.diff(offsets))
    row = np.repeat(np.arange(len(limits)), np.diff(offsets))[kept]
    first, second = first[kept], second[kept]
    bounds = np.concatenate([[0], np.cumsum(ends - offsets[:-1])])
    points = in_bytes[row]
    gain = second.copy()
    gain[1:] -= np.where(row[1:] == row[:-1], second[:-1], 0)
    hits = np.empty(limits.shape, np.int64)
    for k, limit in enumerate(limits.T):
        above = limit[row] - first
        counted = np.clip(above + 1, 0, second)
        if points.any():
            counted = np.where(points, np.where(above >= 0, gain, 0), counted)
        total = np.concatenate([[0], np.cumsum(counted)])
        hits[:, k] = total[bounds[1:]] - total[bounds[:-1]]
    return hits
