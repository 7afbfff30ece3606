"""What facts cannot say, wherever they were read from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve.offline.fact_rows import FactRows
from hitcurve.projection import INFINITE

LEAST = {"input_token_len": 0, "block_size_tokens": 1, "block_bytes": 1}


class Problem(NamedTuple):
    """Why ``row`` (0-based) is none: the words of a TraceError.  ``field`` is None for the pairs."""

    row: int
    field: str | None
    wanted: str
    found: object


def problem(rows: FactRows) -> Problem | None:
    """The first row that cannot be; None where there is none.  O(pairs)."""
    found = [_small_number(rows, name, least) for name, least in LEAST.items()] + [_bad_pairs(rows)]
    return min((p for p in found if p is not None), key=lambda p: p.row, default=None)


def _small_number(rows: FactRows, name: str, least: int) -> Problem | None:
    values = getattr(rows, name)
    bad = np.flatnonzero(values < least)
    return Problem(int(bad[0]), name, f"at least {least}", int(values[bad[0]])) if len(bad) else None


def _bad_pairs(rows: FactRows) -> Problem | None:
    counts = np.diff(rows.offsets)
    points = np.repeat(rows.in_bytes, counts)
    last = np.where(points, rows.first, rows.first + rows.second - 1)  # the highest threshold of the pair
    before, hits_before = np.zeros(len(last), np.int64), np.zeros(len(last), np.int64)
    before[1:], hits_before[1:] = last[:-1], np.where(points, rows.second, 0)[:-1]
    begins = rows.offsets[:-1][counts > 0]
    before[begins] = hits_before[begins] = 0
    wrong = (
        (rows.first <= before) | (rows.second <= hits_before) | (~points & (rows.second - 1 > INFINITE - rows.first))
    )
    bad = np.flatnonzero(wrong)
    if not len(bad):
        return None
    row = int(np.searchsorted(rows.offsets, bad[0], side="right")) - 1
    if rows.in_bytes[row]:
        wanted = "points whose bytes and hit blocks rise from at least 1"
    else:
        wanted = "segments (start, length) of at least 1 that rise and do not overlap"
    own = slice(max(int(rows.offsets[row]), int(bad[0]) - 1), bad[0] + 1)
    return Problem(row, None, wanted, np.stack([rows.first[own], rows.second[own]], axis=1).tolist())
