"""Which write belongs to which read, in a log where they stand apart.

A write belongs to the latest unpaired read before it whose keys, all but the last, are the first keys of the write.
(The last key of a read may be that of a block which grew until it was written.)  Writes choose in order of their ends.

Blocks are whole paths here, so "the first n - 1 keys are equal" is one question: does the write hold the read's block
n - 2?  Reads wait under that block (under the root of their namespace, where they have one key or none).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from hitcurve.trace.interning import expand


class Paths(NamedTuple):
    """The blocks of each row, as spans; ``roots`` int64 (rows,): the namespace of each, from 0 to ``n_roots - 1``."""

    span_offsets: np.ndarray
    span_first: np.ndarray
    span_length: np.ndarray
    roots: np.ndarray
    n_roots: int

    def of(self, row: int) -> np.ndarray:
        """int64: the places of a row, its root and all its blocks."""
        own = slice(self.span_offsets[row], self.span_offsets[row + 1])
        blocks = np.empty(int(self.span_length[own].sum()) + 1, np.int64)
        blocks[0] = self.roots[row]
        expand(self.span_first[own], self.span_length[own], blocks[1:])
        blocks[1:] += self.n_roots
        return blocks


def paired(time_ns: np.ndarray, is_write: np.ndarray, end_ns: np.ndarray, paths: Paths) -> np.ndarray:
    """int64 (rows,): of each read, the row of its write, or -1; -1 of writes.

    ``time_ns``: of reads, and of the starts of writes; rows of equal time stand in order.  ``end_ns``: of writes.
    O(rows log rows + blocks of all writes).
    """
    order = np.argsort(time_ns, kind="stable")
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order))
    waiting: dict[int, list[int]] = defaultdict(list)  # place: turns of the reads that wait there
    for row in order[~is_write[order]].tolist():
        places = paths.of(row)
        waiting[int(places[max(len(places) - 2, 0)])].append(int(turn[row]))
    counts = np.zeros(paths.n_roots + int((paths.span_first + paths.span_length).max(initial=0)), np.int64)
    for place, turns in waiting.items():
        counts[place] = len(turns)
    write_of = np.full(len(order), -1, np.int64)
    writes = np.flatnonzero(is_write)
    for row in writes[np.lexsort((writes, end_ns[writes]))].tolist():
        places = paths.of(row)
        latest, where, at = -1, -1, -1
        for place in places[counts[places] > 0].tolist():
            k = bisect_right(waiting[place], int(turn[row])) - 1
            if k >= 0 and waiting[place][k] > latest:
                latest, where, at = waiting[place][k], place, k
        if latest >= 0:
            del waiting[where][at]
            counts[where] -= 1
            write_of[order[latest]] = row
    return write_of
