"""The miss ratio curve of a window: how much cache the hits of its requests need.

Of the hits that an infinite cache gives these requests, some share needs a cache of so many blocks: the smallest is
found exactly, as the facts of the requests are added up, not sampled.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

import numpy as np

from hitcurve.lru.hit_curve import HitCurve
from hitcurve.projection import blocks_of

TARGETS_BP = (6000, 8000, 9000, 9500, 9900, 9950)  # shares of the window's own hits, in basis points
FEWEST = 4096  # segments that are kept as they come


def required(curve: HitCurve, share: Fraction) -> int:
    """The smallest capacity with ``share`` (0 .. 1) of the curve's own hits, rounded up to whole ones; 0 for none."""
    return curve.smallest(ceil(share * curve.most)) or 0


class WindowCurve(NamedTuple):
    """What a window says.

    ``most``             hit blocks of an infinite cache
    ``required_blocks``  for each target in basis points, the smallest capacity that reaches that share of ``most``,
                         rounded up to whole hits; 0 where there is no hit
    ``hit_blocks``       hit blocks at each capacity that was asked for
    """

    most: int
    required_blocks: dict[int, int]
    hit_blocks: list[int]


class MrcWindow:
    """Adds up the facts of requests until they are taken.

    Memory: O(distinct capacities at which the curve bends), whatever the number of requests.

    >>> window = MrcWindow()
    >>> window.add([(1, 100)])
    >>> window.add([(1000, 1)])
    >>> taken = window.take(capacities=[50, None])
    >>> taken.most, taken.hit_blocks, taken.required_blocks[6000], taken.required_blocks[9950]
    (101, [50, 101], 61, 1000)
    >>> window.take().most
    0
    """

    def __init__(self, targets_bp: Sequence[int] = TARGETS_BP) -> None:
        self.targets_bp = tuple(targets_bp)
        self._clear()

    def add(self, fact: Iterable[tuple[int, ...]]) -> None:
        """The segments of a request: (start, length) or (start, length, age), as ``LruStack.process`` gives them."""
        pairs = [segment[:2] for segment in fact]
        if pairs:
            start, length = np.array(pairs, np.int64).T
            self.add_segments(start, length)

    def add_segments(self, start: np.ndarray, length: np.ndarray) -> None:
        """The segments of any number of requests; both int64 (segments,)."""
        self._parts.append((start, length, np.ones(len(start), np.int64)))
        self._waiting += len(start)
        if self._waiting > max(FEWEST, self._bends):
            self._add_up()

    def take(self, capacities: Sequence[int | None] = ()) -> WindowCurve:
        """The curve of all that was added since the last time; then the window is empty.  O(segments x log)."""
        curve = self._add_up()
        self._clear()
        return WindowCurve(
            most=curve.most,
            required_blocks={bp: required(curve, Fraction(bp, 10_000)) for bp in self.targets_bp},
            hit_blocks=curve.at(np.array([blocks_of(c) for c in capacities], np.int64)).tolist(),
        )

    def _clear(self) -> None:
        self._parts: list[tuple[np.ndarray, ...]] = []  # start, length, weight
        self._waiting = self._bends = 0

    def _add_up(self) -> HitCurve:
        """The curve so far, which takes the place of its parts: between two bends it is one weighted segment."""
        empty = (np.empty(0, np.int64),) * 3
        start, length, weight = (np.concatenate(columns) for columns in zip(*(self._parts or [empty]), strict=True))
        curve = HitCurve.of(start, length, weight)
        bends = np.flatnonzero(curve.slope)
        self._parts = [(curve.knot[bends], np.diff(curve.knot)[bends], curve.slope[bends])] if len(bends) else []
        self._waiting, self._bends = 0, len(bends)
        return curve
