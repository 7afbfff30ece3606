"""Several traces as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.trace.columns import Labels, RawIds
from hitcurve.trace.definition import Definition
from hitcurve.trace.derived import is_namespaced
from hitcurve.trace.interning import Interner, renumbered
from hitcurve.trace.trace import ROW_COLUMNS, Trace

# Columns whose names mean the same in one trace only.
_OWN_NAMES = (("session", "parent_session"), ("request_id",))
_COMMON_NAMES = ("request_type", "tenant", "model")


def merge(traces: Sequence[Trace], scope: str = "namespaced") -> Trace:
    """Several traces as one, in order of time; at equal times in the order given.  O(references).

    ``namespaced``: no block of one trace is a block of another.  Where names of sessions or requests occur in several
    traces, they get the number of their trace in front (``1/name``).
    ``global``: equal paths of raw ids are equal blocks, in whichever trace.

    BadParameter where definitions disagree; UnsupportedTrace where ids cannot be compared.
    """
    if scope not in ("namespaced", "global"):
        raise BadParameter(f"scope: wanted namespaced or global, found {scope!r}")
    if not traces:
        raise BadParameter("merge: wanted at least one trace, found none")
    _check_agreement(traces, scope)
    order = np.argsort(np.concatenate([t.arrival_ns for t in traces]), kind="stable")
    columns: dict[str, Any] = {name: _numbers(traces, name, order) for name in ("arrival_ns", *ROW_COLUMNS)}
    columns |= {name: _labels(traces, name, order) for name in _COMMON_NAMES}
    for names in _OWN_NAMES:
        apart = scope == "namespaced" and _names_meet(traces, names)
        columns |= {name: _labels(traces, name, order, apart) for name in names}
    blocks = _blocks(traces, order, columns["tenant"], scope)
    return Trace(**columns, **blocks, definition=_definition(traces, scope))


_AGREED = {
    "namespaced": ("block_size", "identity", "tail"),
    "global": ("block_size", "identity", "tail", "id_kind", "id_scope"),
}


def _check_agreement(traces: Sequence[Trace], scope: str) -> None:
    for name in _AGREED[scope]:
        values = list(dict.fromkeys(getattr(t.definition, name) for t in traces))
        if len(values) > 1:
            raise BadParameter(f"merge: wanted one {name}, found {' and '.join(map(str, values))}")
    if len({t.definition.time_unit == "none" for t in traces}) > 1:
        raise BadParameter("merge: some of the traces have times and some have none")
    if len({t.input_tokens is None for t in traces}) > 1:
        raise BadParameter("merge: some of the traces have input tokens and some have none")
    if scope == "global":
        for i, trace in enumerate(traces):
            if trace.raw_ids is None:
                raise UnsupportedTrace(f"merge: trace {i} has no raw ids, so its blocks can only be merged namespaced")
            if trace.definition.id_scope != "global" or (trace.tenant is None and is_namespaced(trace)):
                raise UnsupportedTrace(
                    f"merge: in trace {i} an id means different blocks in different places, "
                    "so it can only be merged namespaced"
                )


def _spans_of_all(traces: Sequence[Trace]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Span columns of all traces, one after another, the blocks of each behind those of the ones before."""
    offsets, firsts, n_spans, n_blocks = [np.zeros(1, np.int64)], [], 0, 0
    for trace in traces:
        offsets.append(trace.span_offsets[1:] + n_spans)
        firsts.append(trace.span_first.astype(np.int64) + n_blocks)
        n_spans += len(trace.span_first)
        n_blocks += trace.n_blocks
    return np.concatenate(offsets), np.concatenate(firsts), np.concatenate([t.span_length for t in traces])


def _codes_of_all(traces: Sequence[Trace]) -> RawIds:
    """Raw ids of the blocks of all traces; an id that is no plain number has one code in all of them."""
    encoder = Interner()
    codes = []
    for trace in traces:
        assert trace.raw_ids is not None
        own = trace.raw_ids.codes.copy()
        for block in np.flatnonzero(np.isin(own, list(trace.raw_ids.others))).tolist():
            own[block] = encoder.encode(trace.raw_ids[block])
        codes.append(own)
    return RawIds(np.concatenate(codes), encoder.result()["raw_ids"].others)


def _blocks(traces: Sequence[Trace], order: np.ndarray, tenant: Labels | None, scope: str) -> dict[str, Any]:
    raw_ids = None if any(t.raw_ids is None for t in traces) else _codes_of_all(traces)
    namespaces = None
    if scope == "global":
        namespaces = np.zeros(len(order), np.int64)
        if tenant is not None:
            namespaces[order] = tenant.codes + 1
    return renumbered(order, *_spans_of_all(traces), raw_ids, traces[0].definition.identity, namespaces=namespaces)


def _numbers(traces: Sequence[Trace], name: str, order: np.ndarray) -> np.ndarray | None:
    """One column of all traces in order, -1 for the rows of a trace that lacks it."""
    own = [getattr(t, name) for t in traces]
    if all(values is None for values in own):
        return None
    missing = [np.full(t.n_requests, -1) if v is None else v for t, v in zip(traces, own, strict=True)]
    return np.concatenate(missing)[order]


def _labels(traces: Sequence[Trace], name: str, order: np.ndarray, apart: bool = False) -> Labels | None:
    """One label column of all traces in order; with ``apart``, equal names of two traces are two names."""
    own = [getattr(t, name) for t in traces]
    if all(labels is None for labels in own):
        return None
    numbers: dict[str, int] = {}
    parts = []
    for i, (trace, labels) in enumerate(zip(traces, own, strict=True)):
        if labels is None:
            parts.append(np.full(trace.n_requests, -1, np.int32))
            continue
        codes = [numbers.setdefault(f"{i}/{n}" if apart else n, len(numbers)) for n in labels.names]
        parts.append(np.array([*codes, -1], np.int32)[labels.codes])
    return Labels(np.concatenate(parts), tuple(numbers)).take(order)


def _names_meet(traces: Sequence[Trace], columns: tuple[str, ...]) -> bool:
    """Whether one name occurs in two of the traces."""
    known: set[str] = set()
    for trace in traces:
        own = {name for column in columns if (labels := getattr(trace, column)) for name in labels.names}
        if own & known:
            return True
        known |= own
    return False


def _definition(traces: Sequence[Trace], scope: str) -> Definition:
    """What is true of all; ``mixed`` where the traces differ."""

    def common(name: str) -> Any:
        values = {getattr(t.definition, name) for t in traces}
        return values.pop() if len(values) == 1 else "mixed"

    definitions = [t.definition for t in traces]
    return replace(
        definitions[0],
        id_kind="raw" if common("id_kind") == "mixed" else common("id_kind"),
        id_scope="file" if scope == "namespaced" and len(traces) > 1 else common("id_scope"),
        tail_rule=common("tail_rule"),
        time_unit=common("time_unit"),
        format=common("format"),
        sources=tuple(source for d in definitions for source in d.sources),
        rows_dropped=sum(d.rows_dropped for d in definitions),
        rows_sorted=sum(d.rows_sorted for d in definitions),
        notes=(
            *dict.fromkeys(note for d in definitions for note in d.notes),
            f"merged from {len(traces)} traces, ids {scope}",
        ),
    )
