"""The projector on the byte axis: points of a hybrid model, charges, and a capacity in bytes in, hits out.

Points count Full blocks and states; charges make bytes of them, here and nowhere else.  At capacity C and time to live
T a request hits as many blocks as its last point with room <= C and age < T says.  Room, hits and age rise along a
request, so the points that count are its leading ones.

Points of one progression stand at equal distances, so one division finds how many of them fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.kernels.envelope import Points
from hitcurve.lru.run_level import Segments
from hitcurve.projection import INFINITE, alive
from hitcurve.trace.trace import MAX_BLOCKS


def whole(name: str, value: Any, least: int) -> int:
    """``value`` as a plain number; BadParameter where it is no whole number, or less than ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise BadParameter(f"{name}: wanted a whole number >= {least}, found {value!r}")
    return int(value)


class Charges(NamedTuple):
    """Bytes of one Full block and of one state, and the blocks from one scheduled state to the next.

    >>> Charges(full=8, linear=4, step=2).bytes_of(5, 3), Charges(8, 4, 2).distance
    (52, 20)
    """

    full: int
    linear: int
    step: int

    def bytes_of(self, blocks: np.ndarray | int, states: np.ndarray | int) -> np.ndarray | int:
        """Bytes of so many Full blocks and states."""
        return blocks * self.full + states * self.linear

    @classmethod
    def of(cls, full_bytes: Any, linear_bytes: Any, step: Any, n_blocks: int = 0) -> Charges:
        """BadParameter for charges that no model has, or with which so many blocks have 2**63 bytes or more.

        A step of 0 is one of 1.  Without states (0 bytes) a request can go on from every block, so the step is 1.
        """
        full, linear = whole("full_bytes", full_bytes, 1), whole("linear_bytes", linear_bytes, 0)
        blocks = min(whole("linear_step_blocks", step, 0), MAX_BLOCKS) or 1  # no request is longer
        charges = cls(full, linear, blocks if linear else 1)
        charges.check(n_blocks)
        return charges

    def check(self, n_blocks: int) -> None:
        """BadParameter where so many blocks, each with a state, have 2**63 bytes or more."""
        if (self.full + self.linear) * n_blocks > INFINITE:
            raise BadParameter(
                f"{n_blocks:,} blocks of {self.full:,} + {self.linear:,} bytes: wanted less than 2**63 bytes in all"
            )

    @property
    def distance(self) -> int:
        """Bytes from one point of a progression to the next."""
        return min(self.step * self.full + self.linear, INFINITE)


class BytePoints(NamedTuple):
    """Points one by one: request r has those at ``offsets[r]:offsets[r+1]``, ascending in every column."""

    offsets: np.ndarray  # int64 (requests + 1,)
    capacity_bytes: np.ndarray  # int64: the smallest cache in which
    hit_blocks: np.ndarray  # int64: so many leading blocks hit
    age_ns: np.ndarray  # int64: time since the oldest object they need was last touched


def byte_points(points: Points, charges: Charges) -> BytePoints:
    """All points of all progressions.  O(points)."""
    ends = np.concatenate([[0], np.cumsum(points.length)])
    row = np.repeat(np.arange(len(points.length)), points.length)
    nth = np.arange(ends[-1]) - ends[row]
    room = charges.bytes_of(points.blocks, points.states)
    return BytePoints(
        ends[points.offsets],
        np.asarray(room)[row] + nth * charges.distance,
        points.hits[row] + nth * charges.step,
        points.age_ns[row],
    )


def points_of_segments(segments: Segments) -> Points:
    """Facts of full attention as points: each block is one, as if it had a state of 0 bytes."""
    ends = np.concatenate([[0], np.cumsum(segments.length)])
    first = np.repeat(ends[segments.offsets[:-1]], np.diff(segments.offsets))
    hits = ends[:-1] - first + 1
    return Points(segments.offsets, segments.start, segments.start, hits, segments.length, segments.age_ns)


def byte_hits_per_request(points: Points, charges: Charges, capacity: int, ttl_ns: int) -> np.ndarray:
    """int64 (requests,): leading hit blocks of each request.  O(progressions + requests)."""
    fit = np.clip((capacity - charges.bytes_of(points.blocks, points.states)) // charges.distance + 1, 0, points.length)
    if ttl_ns < INFINITE:
        fit *= alive(points.offsets, points.age_ns, ttl_ns)
    gained = np.where(fit > 0, gains(points, charges.step) + (fit - 1) * charges.step, 0)
    total = np.concatenate([[0], np.cumsum(gained)])
    return total[points.offsets[1:]] - total[points.offsets[:-1]]


def hits_before(points: Points, step: int) -> np.ndarray:
    """int64 (progressions,): hits of the point before each progression in its request, or 0."""
    last = points.hits + (points.length - 1) * step
    before = np.concatenate([[0], last])[:-1]
    before[points.offsets[:-1][np.diff(points.offsets) > 0]] = 0
    return before


def gains(points: Points, step: int) -> np.ndarray:
    """int64 (progressions,): hits that the first point of each adds to those before it."""
    return points.hits - hits_before(points, step)
