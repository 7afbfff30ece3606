"""What is in a trace: sizes, sharing, and how lengths, times and lifetimes are spread.

Everything comes from spans: O(spans log spans + blocks log blocks), never O(references) where the ids form a tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import entry
from hitcurve._version import __version__
from hitcurve.lru.facts import Facts
from hitcurve.lru.interval_window import weighted_sum
from hitcurve.lru.replay import lru_facts
from hitcurve.lru.reuse_intervals import interval_samples
from hitcurve.table import Table
from hitcurve.trace import Trace
from hitcurve.trace.derived import sharing

PERCENTILES = (50, 90, 95, 99)
SECOND = 1_000_000_000


class Statistics(NamedTuple):
    """``counts``: columns ``quantity``, ``value``.  ``spread``: one row a quantity, with the columns ``quantity``,
    ``unit``, ``count``, ``mean``, ``least``, ``p50``, ``p90``, ``p95``, ``p99``, ``most``; a percentile is a value that
    occurs (nearest rank).  What the trace cannot tell (no times, no sessions ...) has no row.
    """

    counts: Table
    spread: Table


def trace_statistics(trace: Trace, facts: Facts | None = None) -> Statistics:
    """Statistics of ``trace``; ``facts`` of the same trace save a replay."""
    facts = lru_facts(trace) if facts is None else facts
    provenance = {"trace": trace.summary(), "percentile": "nearest rank", "hitcurve": __version__}
    counts = _counts(trace)
    spread = [row for row in _spreads(trace, facts) if row["count"]]
    names = ("quantity", "unit", "count", "mean", "least", *(f"p{p}" for p in PERCENTILES), "most")
    return Statistics(
        Table({"quantity": list(counts), "value": list(counts.values())}, provenance),
        Table({name: [row[name] for row in spread] for name in names}, provenance),
    )


def _counts(trace: Trace) -> dict[str, Any]:
    held = sharing(trace)
    shared = held > 1
    blocks, references = max(trace.n_blocks, 1), max(trace.n_block_refs, 1)
    counts: dict[str, Any] = {
        "requests": trace.n_requests,
        "block references": trace.n_block_refs,
        "unique blocks": trace.n_blocks,
        "spans": len(trace.span_first),
        "blocks referenced more than once": int(shared.sum()),
        "share of blocks referenced more than once": int(shared.sum()) / blocks,
        "share of references to such blocks": int(held[shared].sum()) / references,
        "share of references to blocks seen before": (trace.n_block_refs - trace.n_blocks) / references,
    }
    if trace.input_tokens is not None:
        counts["input tokens"] = trace.n_input_tokens
    if trace.output_tokens is not None:
        counts["output tokens"] = int(trace.output_tokens[trace.output_tokens >= 0].sum())
    if _has_times(trace) and trace.n_requests:
        counts["seconds from first to last request"] = int(trace.arrival_ns[-1] - trace.arrival_ns[0]) / SECOND
    for column, noun in (("session", "sessions"), ("tenant", "tenants"), ("request_type", "request types")):
        labels = getattr(trace, column)
        if labels is not None:
            counts[noun] = len(np.unique(labels.codes[labels.codes >= 0]))
    if trace.session is not None:
        between = holders_by_group(trace, trace.session.codes) > 1
        counts["blocks shared between sessions"] = int(between.sum())
        counts["share of references to blocks shared between sessions"] = int(held[between].sum()) / references
    return counts


def _spreads(trace: Trace, facts: Facts) -> list[dict[str, Any]]:
    rows = [_spread("blocks of a request", "blocks", trace.request_blocks)]
    if trace.input_tokens is not None:
        rows.append(_spread("input of a request", "tokens", trace.input_tokens))
    if trace.output_tokens is not None:
        rows.append(_spread("output of a request", "tokens", trace.output_tokens[trace.output_tokens >= 0]))
    rows.append(_spread("references to a block", "references", sharing(trace)))
    sessions = None if trace.session is None else trace.session.codes
    if sessions is not None:
        sizes = np.bincount(sessions[sessions >= 0])
        rows.append(_spread("requests of a session", "requests", sizes[sizes > 0]))
    if _has_times(trace):
        rows.append(_spread("time between requests", "seconds", np.diff(trace.arrival_ns), scale=SECOND))
        rows.append(_spread("reuse interval of a block", "seconds", *interval_samples(trace, facts), SECOND))
        rows.append(_spread("life of a block, first to last reference", "seconds", block_lives(trace), scale=SECOND))
        if sessions is not None:
            rows.append(
                _spread("life of a session, first to last request", "seconds", _lives(trace, sessions), scale=SECOND)
            )
    return rows


def _spread(
    quantity: str, unit: str, values: np.ndarray, weights: np.ndarray | None = None, scale: int = 1
) -> dict[str, Any]:
    """One row: ``values`` int64, each counted ``weights`` times, shown divided by ``scale``."""
    order = np.argsort(values, kind="stable") if weights is not None else None
    ordered = np.sort(values) if order is None else values[order]
    upto = np.arange(1, len(ordered) + 1) if order is None else np.cumsum(weights[order])  # type: ignore[index]
    count = int(upto[-1]) if len(upto) else 0
    row: dict[str, Any] = {"quantity": quantity, "unit": unit, "count": count}
    if count:

        def shown(rank: int) -> int | float:
            value = int(ordered[np.searchsorted(upto, rank)])
            return value if scale == 1 else value / scale

        total = sum(ordered.tolist()) if order is None else weighted_sum(ordered, weights[order])  # type: ignore[index]
        row |= {"mean": total / count / scale, "least": shown(1), "most": shown(count)}
        row |= {f"p{p}": shown(-(-count * p // 100)) for p in PERCENTILES}
    return row


def holders_by_group(trace: Trace, codes: np.ndarray) -> np.ndarray:
    """int64 (n_blocks,): how many groups hold each block; ``codes`` (requests,), -1 where a request is in none.

    The spans of a group are joined where they touch, so that a block counts once.  O(spans log spans + blocks).
    """
    group = np.repeat(codes.astype(np.int64), np.diff(trace.span_offsets))
    width = trace.n_blocks + 1
    start = group * width + trace.span_first
    end = start + trace.span_length
    order = np.argsort(start, kind="stable")
    order = order[group[order] >= 0]
    start, reach = start[order], np.maximum.accumulate(end[order])
    opens = np.append(True, start[1:] > reach[:-1])[: len(start)]
    closes = np.append(opens[1:], True)[: len(start)]
    change = np.bincount(start[opens] % width, minlength=width) - np.bincount(reach[closes] % width, minlength=width)
    return np.cumsum(change)[:-1]


def block_lives(trace: Trace) -> np.ndarray:
    """int64 (n_blocks,): nanoseconds between the arrivals of the first and the last request that hold each block."""
    ends = np.append(0, np.maximum.accumulate(trace.span_first.astype(np.int64) + trace.span_length))
    new = np.diff(ends[trace.span_offsets])
    last = np.full(trace.n_blocks, -1, np.int32)
    find_last(trace.span_offsets, trace.span_first, trace.span_length, trace.contract, last)
    return trace.arrival_ns[last] - np.repeat(trace.arrival_ns, new)


@entry
def find_last(span_offsets, span_first, span_length, tree, last):
    """Write the last request that holds each block; ``last`` int32 (blocks,): all -1.

    Last request first, each from its end: in a tree, who holds a block holds its whole path, so the first block that a
    later request holds ends the search.  O(requests + blocks) in a tree, else O(references).
    """
    for r in range(len(span_offsets) - 2, -1, -1):
        s = span_offsets[r + 1] - 1
        while s >= span_offsets[r]:
            for block in range(span_first[s] + span_length[s] - 1, span_first[s] - 1, -1):
                if last[block] < 0:
                    last[block] = r
                elif tree:
                    s = -1
                    break
            s -= 1


def _lives(trace: Trace, codes: np.ndarray) -> np.ndarray:
    """int64 (groups,): nanoseconds between the first and the last arrival of each group."""
    rows = np.flatnonzero(codes >= 0)
    groups, first, group = np.unique(codes[rows], return_index=True, return_inverse=True)
    last = np.zeros(len(groups), np.int64)
    last[group] = rows  # the last assignment stays
    return trace.arrival_ns[last] - trace.arrival_ns[rows[first]]


def _has_times(trace: Trace) -> bool:
    return trace.definition.time_unit != "none"
