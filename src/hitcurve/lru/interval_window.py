"""Statistics of times, added up until they are taken: exact while distinct values are few, in bins beyond that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

MOST_VALUES = 1 << 20  # distinct values that are kept apart: 16 MB
FEWEST = 4096  # samples that are kept as they come
EXACT_BELOW = 256  # ns: bins of one value; above, 128 bins for each power of two
BINS = EXACT_BELOW + 128 * (63 - 8)


@dataclass(frozen=True)
class IntervalStatistics:
    """Of ``count`` samples; nothing but the count where there are none.

    Percentiles are samples themselves (nearest rank), or, where ``exact`` is False, up to 1/128 above them.
    """

    count: int
    least_ns: int | None
    mean_ns: float | None
    p95_ns: int | None
    p99_ns: int | None
    most_ns: int | None
    exact: bool


class IntervalWindow:
    """A window of samples.

    Samples are counted by value.  Once more than ``most_values`` values differ, they are counted in 7296 bins until
    they are taken: count, mean and both ends stay exact.

    >>> window = IntervalWindow()
    >>> window.add(np.array([0, 1, 8]))
    >>> window.take()
    IntervalStatistics(count=3, least_ns=0, mean_ns=3.0, p95_ns=8, p99_ns=8, most_ns=8, exact=True)
    """

    _least: int
    _most: int

    def __init__(self, most_values: int = MOST_VALUES) -> None:
        self._most_values = most_values
        self._clear()

    def add(self, ns: np.ndarray, count: np.ndarray | None = None) -> None:
        """Samples ``ns`` int64 >= 0, each ``count`` times (int64 >= 1; default once)."""
        if not len(ns):
            return
        count = np.ones(len(ns), np.int64) if count is None else count
        self._count += int(count.sum())
        self._sum += weighted_sum(ns, count)
        self._least = min(self._least, int(ns.min()))
        self._most = max(self._most, int(ns.max()))
        if self._bins is not None:
            np.add.at(self._bins, bin_of(ns), count)
            return
        self._waiting.append((ns, count))
        self._n_waiting += len(ns)
        if self._n_waiting > max(FEWEST, len(self._values)):
            self._count_values()

    def take(self) -> IntervalStatistics:
        """What was added since the last time; then the window is empty."""
        if not self._count:
            return IntervalStatistics(0, None, None, None, None, None, True)
        self._count_values()
        exact = self._bins is None
        values, counts = (self._values, self._counts) if self._bins is None else (TOPS, self._bins)
        upto = np.cumsum(counts)
        at_ranks = (values[np.searchsorted(upto, -(-self._count * percent // 100))] for percent in (95, 99))
        p95, p99 = (min(int(value), self._most) for value in at_ranks)
        found = IntervalStatistics(self._count, self._least, self._sum / self._count, p95, p99, self._most, exact)
        self._clear()
        return found

    def _clear(self) -> None:
        self._count = self._sum = self._n_waiting = 0
        self._least = 2**63
        self._most = -1
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self._values: np.ndarray = np.empty(0, np.int64)  # distinct values, ascending
        self._counts: np.ndarray = self._values  # how many of each
        self._bins: np.ndarray | None = None

    def _count_values(self) -> None:
        """Put what waits in its place among the values, or into bins, if the values become too many."""
        waiting = [(self._values, self._counts), *self._waiting]
        self._waiting, self._n_waiting = [], 0
        if self._bins is not None:
            return
        ns, count = (np.concatenate(columns) for columns in zip(*waiting, strict=True))
        self._values, place = np.unique(ns, return_inverse=True)
        self._counts = np.zeros(len(self._values), np.int64)
        np.add.at(self._counts, place, count)
        if len(self._values) > self._most_values:
            self._bins = np.zeros(BINS, np.int64)
            np.add.at(self._bins, bin_of(self._values), self._counts)
            self._values = self._counts = np.empty(0, np.int64)


def weighted_sum(values: np.ndarray, count: np.ndarray) -> int:
    """The sum of ``values`` (int64 >= 0), each ``count`` times, however large."""
    if float(values.max(initial=0)) * float(count.sum()) < 2.0**62:
        return int(values @ count)
    return sum(value * n for value, n in zip(values.tolist(), count.tolist(), strict=True))


def bin_of(ns: np.ndarray) -> np.ndarray:
    """int64: the bin of each value (int64 >= 0).

    >>> bin_of(np.array([0, 255, 256, 257, 258, 2**63 - 1])).tolist()
    [0, 255, 256, 256, 257, 7295]
    """
    power = np.frexp(ns.astype(np.float64))[1].astype(np.int64) - 1  # of two, at most the value; too large where
    power -= ns >> np.clip(power, 0, 62) == 0  # the float was rounded up to the next
    power = np.clip(power, 8, 62)
    return np.where(ns < EXACT_BELOW, ns, EXACT_BELOW + 128 * (power - 8) + (ns >> (power - 7)) - 128)


def _tops() -> np.ndarray:
    """int64 (BINS,): the largest value of each bin."""
    power, step = np.divmod(np.arange(BINS - EXACT_BELOW), 128)
    tops = ((step + 129).astype(np.uint64) << (power + 1).astype(np.uint64)) - np.uint64(1)
    return np.concatenate([np.arange(EXACT_BELOW), tops.astype(np.int64)])


TOPS = _tops()
