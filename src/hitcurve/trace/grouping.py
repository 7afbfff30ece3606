"""Requests in groups: by session, tenant, type, turn, or window of time.  Sums over groups are sums of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitcurve.errors import BadParameter, UnknownName, UnsupportedTrace
from hitcurve.trace.trace import LABEL_COLUMNS, Trace

GROUPINGS = ("session", "tenant", "request_type", "turn", "window", "model", "parent_session", "request_id")


@dataclass(frozen=True)
class Groups:
    """``column``: what the groups are called; ``values``: one a group; ``codes`` int64 (requests,): index of its group.

    Groups stand in order of their first request; windows and turns in their own order.
    """

    column: str
    values: list[Any]
    codes: np.ndarray

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sum over each group of one value a request: int64 of integers, float64 of others.  O(requests)."""
        total = np.zeros(len(self.values), np.int64 if values.dtype.kind in "iub" else np.float64)
        np.add.at(total, self.codes, values)
        return total

    def maxima(self, values: np.ndarray) -> np.ndarray:
        """Largest value of each group; 0 for a group without requests."""
        largest = np.zeros(len(self.values), np.int64)
        np.maximum.at(largest, self.codes, values)
        return largest


def groups(trace: Trace, by: str, window: float | None = None) -> Groups:
    """The groups of ``trace`` by one of ``GROUPINGS``; a request without a name is in the group None.

    ``window``: seconds, for ``by="window"``; a window's value is its start in seconds after the first request, and
    windows without a request are there too.  UnsupportedTrace where the trace lacks the column.
    """
    if by not in GROUPINGS:
        raise UnknownName("grouping", by, GROUPINGS)
    if (by == "window") != (window is not None):
        raise BadParameter("a window needs its length in seconds, and nothing else has one")
    if by == "window":
        return _windows(trace, float(window or 0))
    if by in LABEL_COLUMNS:
        labels = trace.labels(by)
        return _in_order(by, labels.codes, lambda code: None if code < 0 else labels.names[code])
    if trace.turn is None:
        raise UnsupportedTrace("this trace has no turn column")
    turns, codes = np.unique(trace.turn, return_inverse=True)
    return Groups(by, [None if t < 0 else t for t in turns.tolist()], codes.astype(np.int64))


def _in_order(column: str, codes: np.ndarray, name: Any) -> Groups:
    distinct, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return Groups(column, [name(int(code)) for code in distinct[order]], place[inverse])


def _windows(trace: Trace, seconds: float) -> Groups:
    if trace.definition.time_unit == "none":
        raise UnsupportedTrace("this trace has no times, so there are no windows of time")
    length = round(seconds * 1_000_000_000)
    if length < 1:
        raise BadParameter(f"window: wanted a time of at least a nanosecond, found {seconds:g} s")
    if not trace.n_requests:
        return Groups("window_start_seconds", [], np.empty(0, np.int64))
    codes = (trace.arrival_ns - trace.arrival_ns[0]) // length
    n = int(codes[-1]) + 1
    if n > 10_000_000:
        raise BadParameter(f"window: {seconds:g} s cuts this trace into {n:,} windows; wanted at most 10,000,000")
    return Groups("window_start_seconds", [i * length / 1e9 for i in range(n)], codes)
