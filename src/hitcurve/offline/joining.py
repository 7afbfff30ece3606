"""Batches of facts put together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hitcurve.offline.fact_rows import FactRows

ROWS = ("timestamp_ns", "input_token_len", "block_size_tokens", "block_bytes", "in_bytes")  # numbers, one a row
PAIRS = ("first", "second")


def joined(parts: Sequence[FactRows]) -> FactRows:
    """The rows of all parts (at least one), which have ages and lifetimes, one after another."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part.first) for part in parts)])
    offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return FactRows(
        trace_id=[name for part in parts for name in part.trace_id],
        instance_id=[name for part in parts for name in part.instance_id],
        offsets=np.concatenate([[0], *offsets]),
        **{
            name: np.concatenate([getattr(part, name) for part in parts])
            for name in (*ROWS, *PAIRS, "age_ns", "ttl_ns")
        },
    )


def in_order(facts: FactRows, places: np.ndarray) -> FactRows:
    """The rows put where ``places`` (int64 (rows,), all different) ascend; with ages and lifetimes."""
    assert facts.age_ns is not None and facts.ttl_ns is not None
    order = np.argsort(places)
    counts = np.diff(facts.offsets)[order]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    pairs = np.repeat(facts.offsets[:-1][order] - offsets[:-1], counts) + np.arange(offsets[-1])
    return FactRows(
        trace_id=[facts.trace_id[row] for row in order.tolist()],
        instance_id=[facts.instance_id[row] for row in order.tolist()],
        offsets=offsets,
        age_ns=facts.age_ns[pairs],
        ttl_ns=facts.ttl_ns[order],
        **{name: getattr(facts, name)[order] for name in ROWS},
        **{name: getattr(facts, name)[pairs] for name in PAIRS},
    )
