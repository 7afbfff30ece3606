"""The hit curve: thresholds of segments summed up, hits at every capacity (see ``projection``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry


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
