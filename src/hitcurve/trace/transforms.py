"""Traces from traces: the first requests, a window of time, some sessions, several traces as one, larger blocks.

Blocks are numbered by first appearance again; ``definition.notes`` of the result says what was done.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.trace.columns import RawIds
from hitcurve.trace.definition import Definition
from hitcurve.trace.derived import chains, span_positions
from hitcurve.trace.interning import renumbered
from hitcurve.trace.merging import merge
from hitcurve.trace.trace import LABEL_COLUMNS, ROW_COLUMNS, Trace
from hitcurve.wording import seconds

__all__ = ["head", "merge", "reblock", "sample", "window"]


def head(trace: Trace, n: int) -> Trace:
    """The first ``n`` requests (all, if there are fewer).  O(their spans + blocks)."""
    if n < 0:
        raise BadParameter(f"head: wanted a number of requests >= 0, found {n}")
    if n >= trace.n_requests:
        return trace
    note = f"the first {n:,} of {trace.n_requests:,} requests"
    if not trace.contract:  # what is left may be a tree
        return _selected(trace, np.arange(n), note)
    n_spans, n_blocks = int(trace.span_offsets[n]), int(trace.new_block_offsets[n])
    columns = _rows(trace, slice(0, n)) | {
        "span_offsets": trace.span_offsets[: n + 1],
        "span_first": trace.span_first[:n_spans],
        "span_length": trace.span_length[:n_spans],
        "n_blocks": n_blocks,
        "raw_ids": trace.raw_ids and RawIds(trace.raw_ids.codes[:n_blocks], trace.raw_ids.others),
    }
    return replace(trace, **columns, definition=_noted(trace.definition, note))


def window(trace: Trace, start_ns: int | None = None, stop_ns: int | None = None) -> Trace:
    """The requests that arrive at ``start_ns`` or later and before ``stop_ns`` (None: no bound).  O(references)."""
    if trace.definition.time_unit == "none":
        raise UnsupportedTrace("this trace has no times, so there is no window of time")
    if start_ns is not None and stop_ns is not None and stop_ns < start_ns:
        raise BadParameter(f"window: wanted a start before its stop, found {start_ns} .. {stop_ns}")
    start = 0 if start_ns is None else int(np.searchsorted(trace.arrival_ns, start_ns))
    stop = trace.n_requests if stop_ns is None else int(np.searchsorted(trace.arrival_ns, stop_ns))
    first = int(trace.arrival_ns[0]) if trace.n_requests else 0
    bounds = [
        f" {word} {seconds(max(t - first, 0) / 1e9)}"
        for word, t in (("from", start_ns), ("up to", stop_ns))
        if t is not None
    ]
    return _selected(trace, np.arange(start, stop), f"requests{''.join(bounds)}{' after the first' * bool(bounds)}")


def sample(trace: Trace, share: float, seed: int = 0) -> Trace:
    """About ``share`` (0 .. 1) of the sessions, each whole, drawn from ``seed``; a request without one is drawn alone.

    Its hit ratios are those of a machine that serves these sessions only, not an estimate of the whole.  O(references).
    """
    if not 0 <= share <= 1:
        raise BadParameter(f"share: wanted 0 .. 1, found {share}")
    sessions = trace.labels("session")
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = random.random(len(sessions.names)) < share
    alone = random.random(trace.n_requests) < share
    kept = np.where(sessions.codes >= 0, np.append(drawn, False)[sessions.codes], alone)
    note = f"{int(drawn.sum()):,} of {len(drawn):,} sessions, drawn with share {share:g} and seed {seed}"
    return _selected(trace, np.flatnonzero(kept), note)


def reblock(trace: Trace, factor: int) -> Trace:
    """Blocks ``factor`` times as large: a path's every ``factor``-th block stands for itself and those since the last.

    What is left over at the end of a request is dropped, input tokens stay.  Only a tree can be re-blocked (else
    UnsupportedTrace).  Two requests share a large block exactly where they share the whole path to its end, so large
    blocks are numbered as their last small ones are.  O(spans log chains + blocks).
    """
    if not 1 <= factor < 2**31:
        raise BadParameter(f"factor: wanted a whole number from 1 to {2**31 - 1}, found {factor}")
    if not trace.contract:
        raise UnsupportedTrace("this trace was read with identity raw and its ids form no tree; read it with prefix")
    if factor == 1:
        return trace
    own = chains(trace)
    size = np.append(own.first[1:], trace.n_blocks) - own.first.astype(np.int64)
    in_chain = (own.depth + size) // factor - own.depth // factor  # large blocks that end in the chain
    before_chain = np.cumsum(in_chain) - in_chain

    chain = own.of_blocks(trace.span_first)
    position = span_positions(trace)
    length = (position + trace.span_length) // factor - position // factor
    first = before_chain[chain] + position // factor - own.depth[chain] // factor
    keep = length > 0
    request = np.repeat(np.arange(trace.n_requests), np.diff(trace.span_offsets))[keep]
    spans = _joined(request, first[keep], length[keep], trace.n_requests)

    notes = [f"blocks of {factor} blocks each"]
    raw_ids = trace.raw_ids
    if raw_ids is not None and trace.definition.id_kind == "prefix":
        block = np.arange(trace.n_blocks) - np.repeat(own.first - own.depth, size)  # its depth
        raw_ids = RawIds(raw_ids.codes[block % factor == factor - 1], raw_ids.others)
    elif raw_ids is not None:
        raw_ids = None
        notes.append("raw ids left out: each named a small block, not the path to it")
    old = trace.definition
    new = replace(
        old,
        block_size=old.block_size and old.block_size * factor,
        tail_rule="floor" if old.tail_rule == "floor" or old.tail == "drop" else "mixed",
    )
    return replace(trace, **spans, n_blocks=int(in_chain.sum()), raw_ids=raw_ids, definition=_noted(new, *notes))


def _noted(definition: Definition, *notes: str) -> Definition:
    return replace(definition, notes=(*definition.notes, *notes))


def _rows(trace: Trace, rows: Any) -> dict[str, Any]:
    """The row columns of a selection."""
    numbers = {name: getattr(trace, name) for name in ("arrival_ns", *ROW_COLUMNS)}
    labels = {name: getattr(trace, name) for name in LABEL_COLUMNS}
    return {
        **{name: values if values is None else values[rows] for name, values in numbers.items()},
        **{name: values if values is None else values.take(rows) for name, values in labels.items()},
    }


def _selected(trace: Trace, rows: np.ndarray, note: str) -> Trace:
    """The requests ``rows``, in that order."""
    spans = trace.span_offsets, trace.span_first, trace.span_length
    fields = renumbered(rows, *spans, trace.raw_ids, trace.definition.identity)
    return Trace(**_rows(trace, rows), **fields, definition=_noted(trace.definition, note))


def _joined(request: np.ndarray, first: np.ndarray, length: np.ndarray, n_requests: int) -> dict[str, Any]:
    """Span columns, where a span that continues the one before it (of the same request) becomes part of it."""
    starts = np.ones(len(first), bool)
    starts[1:] = (request[1:] != request[:-1]) | (first[1:] != first[:-1] + length[:-1])
    at = np.flatnonzero(starts)
    counts = np.bincount(request[at], minlength=n_requests)
    return {
        "span_offsets": np.concatenate([[0], np.cumsum(counts)]),
        "span_first": first[at].astype(np.int32),
        "span_length": np.add.reduceat(length, at).astype(np.int32) if len(at) else np.empty(0, np.int32),
    }
