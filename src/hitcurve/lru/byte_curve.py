"""The curve over bytes: hits of a hybrid model at every capacity, kept as progressions.

A progression is a stair of equal steps.  Nothing is laid out step by step unless all steps are asked for: a trace has
two progressions a request, and a hundred points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry
from hitcurve.kernels.envelope import Points
from hitcurve.lru.byte_projection import Charges, gains, hits_before
from hitcurve.projection import INFINITE, alive


class ByteCurve(NamedTuple):
    """Hits at every capacity in bytes, as a sum of progressions (int64 (progressions,) each).

    At ``first`` there are ``gain`` hits more; then ``length`` - 1 times, at every ``distance`` bytes, ``step`` more.
    """

    first: np.ndarray
    gain: np.ndarray
    length: np.ndarray
    distance: int
    step: int

    @classmethod
    def of(cls, points: Points, charges: Charges, ttl_ns: int = INFINITE, most: np.ndarray | None = None) -> ByteCurve:
        """Of all requests; of request r at most its leading ``most[r]`` blocks (default: all)."""
        kept = alive(points.offsets, points.age_ns, ttl_ns)
        first, gain = np.asarray(charges.bytes_of(points.blocks, points.states)), gains(points, charges.step)
        if most is None:
            return cls(first[kept], gain[kept], points.length[kept], charges.distance, charges.step)
        limit = np.repeat(most, np.diff(points.offsets))
        whole = np.clip((limit - points.hits) // charges.step + 1, 0, points.length)
        before = hits_before(points, charges.step)
        before = np.where(whole > 0, points.hits + (whole - 1) * charges.step, before)
        cut = kept & (whole < points.length) & (before < limit)
        kept &= whole > 0
        return cls(
            np.concatenate([first[kept], (first + whole * charges.distance)[cut]]),
            np.concatenate([gain[kept], (limit - before)[cut]]),
            np.concatenate([whole[kept], np.ones(cut.sum(), np.int64)]),
            charges.distance,
            charges.step,
        )

    @classmethod
    def beyond(cls, points: Points, charges: Charges, ttl_ns: int, most: np.ndarray, weight: np.ndarray) -> ByteCurve:
        """``weight[r]`` for each request r from the capacity on at which more than ``most[r]`` blocks hit."""
        limit = np.repeat(most, np.diff(points.offsets))
        whole = np.clip((limit - points.hits) // charges.step + 1, 0, points.length)
        kept = alive(points.offsets, points.age_ns, ttl_ns) & (whole < points.length)
        kept &= hits_before(points, charges.step) <= limit
        first = np.asarray(charges.bytes_of(points.blocks, points.states)) + whole * charges.distance
        weights = np.repeat(weight, np.diff(points.offsets))[kept]
        return cls(first[kept], weights, np.ones(len(weights), np.int64), charges.distance, charges.step)

    @property
    def most(self) -> int:
        """Hits at infinite capacity."""
        return int(self.gain.sum() + (self.length - 1).sum() * self.step)

    def at(self, capacities: np.ndarray) -> np.ndarray:
        """Hits at each of these capacities (int64 >= 0, any order).

        O(progressions x log capacities), and one division for each capacity that lies inside a progression.
        """
        order = np.argsort(capacities, kind="stable")
        asked = np.asarray(capacities, np.int64)[order]
        last = self.first + (self.length - 1) * self.distance
        begin, end = np.searchsorted(asked, self.first), np.searchsorted(asked, last)
        changes = np.zeros(len(asked) + 1, np.int64)
        np.add.at(changes, end, self.gain + (self.length - 1) * self.step)
        hits = np.cumsum(changes)[:-1]
        add_inside(self, begin, end, asked, hits)
        found = np.empty(len(asked), np.int64)
        found[order] = hits
        return found

    def along(self, capacities: np.ndarray) -> np.ndarray:
        """``at`` for ascending capacities."""
        return self.at(capacities)

    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Every capacity at which hits rise, ascending, and the hits from there on; both int64.  O(points x log)."""
        row = np.repeat(np.arange(len(self.first)), self.length)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(self.length) - self.length, self.length)
        capacities, place = np.unique(self.first[row] + nth * self.distance, return_inverse=True)
        rises = np.zeros(len(capacities), np.int64)
        np.add.at(rises, place, np.where(nth > 0, self.step, self.gain[row]))
        return capacities, np.cumsum(rises)

    def smallest(self, hits: int) -> int | None:
        """The smallest capacity with at least so many hits; None where there is none.  64 times ``at``."""
        if hits <= 0:
            return 0
        if hits > self.most:
            return None
        low, high = 0, int((self.first + (self.length - 1) * self.distance).max())  # too little, enough
        while high - low > 1:
            middle = (low + high) // 2
            if int(self.at(np.array([middle]))[0]) < hits:
                low = middle
            else:
                high = middle
        return high


@entry
def add_inside(curve, begin, end, asked, hits):
    """Add what each progression gives at the capacities ``asked[begin[i]:end[i]]``, which do not hold all of it."""
    for i in range(len(begin)):
        for k in range(begin[i], end[i]):
            hits[k] += curve.gain[i] + (asked[k] - curve.first[i]) // curve.distance * curve.step
