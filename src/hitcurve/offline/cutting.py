"""Facts for one time to live: what it leaves of them, without ages."""

from __future__ import annotations

import numpy as np

from hitcurve.offline.fact_rows import FactRows


def cut(rows: FactRows, ttl_ns: int | None = None) -> FactRows:
    """The facts under ``ttl_ns`` (default: each row's own), without ages; segments that go on from one another join.

    Rows without ages stay as they are; BadParameter if a time to live is asked of them.  O(pairs).
    """
    ends = rows.ends(ttl_ns)
    if rows.age_ns is None:
        return rows
    counts = np.diff(rows.offsets)
    kept = np.arange(len(rows.first)) < np.repeat(ends, counts)
    row = np.repeat(np.arange(len(rows)), counts)[kept]
    first, second = rows.first[kept], rows.second[kept]
    begins = np.ones(len(row), bool)
    begins[1:] = (row[1:] != row[:-1]) | rows.in_bytes[row[1:]] | (first[1:] != first[:-1] + second[:-1])
    at = np.flatnonzero(begins)
    return FactRows(
        rows.trace_id,
        rows.instance_id,
        rows.timestamp_ns,
        rows.input_token_len,
        rows.block_size_tokens,
        rows.block_bytes,
        rows.in_bytes,
        np.searchsorted(row[at], np.arange(len(rows) + 1)),
        first[at],
        np.add.reduceat(second, at) if len(at) else second,
    )
