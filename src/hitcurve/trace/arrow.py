"""A trace as an Arrow table, and back: one row a request.

    arrival_ns                                   int64
    completion_ns, input_tokens, output_tokens   int64, null where unknown
    turn                                         int32, null where unknown
    session, parent_session, request_type,
    tenant, model, request_id                    dictionary of strings, null where a row has none
    span_first, span_length                      list<int32>, of equal lengths: blocks first .. first + length - 1
    new_raw_ids                                  list<int64>: raw ids of the blocks that no earlier request holds
    other_raw_ids                                list<struct<code, kind, id>>: what the codes in new_raw_ids stand for,
                                                 where an id is a string, bytes, or beyond 64 bits; beside its first use

A column that the trace lacks is not there.  What is true of the whole trace stands in the schema's metadata, as JSON
under ``hitcurve``.  Blocks are numbered by first appearance, so ``new_raw_ids`` of all rows, one after another, are the
raw ids of blocks 0, 1, 2, ...
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import OutputError, UnsupportedTrace
from hitcurve.trace.columns import Labels, RawIds
from hitcurve.trace.definition import Definition
from hitcurve.trace.trace import LABEL_COLUMNS, ROW_COLUMNS, Trace

if TYPE_CHECKING:
    import pyarrow

KEY = b"hitcurve"
LAYOUT = 1


def metadata(trace: Trace) -> dict[bytes, bytes]:
    """What is true of the whole trace, as metadata of an Arrow schema."""
    facts = {
        "content": "trace",
        "layout": LAYOUT,
        "n_requests": trace.n_requests,
        "n_blocks": trace.n_blocks,
        "contract": trace.contract,
        "definition": trace.definition.as_dict(),
    }
    return {KEY: json.dumps(facts).encode()}


def to_arrow(trace: Trace, start: int = 0, stop: int | None = None) -> pyarrow.Table:
    """Requests ``start .. stop - 1`` as an Arrow table.  O(spans + new blocks) of these rows.

    OutputError for a name that is no valid Unicode.
    """
    import pyarrow

    stop = trace.n_requests if stop is None else stop
    columns: dict[str, Any] = {"arrival_ns": pyarrow.array(trace.arrival_ns[start:stop])}
    for name in ROW_COLUMNS:
        values = getattr(trace, name)
        if values is not None:
            values = values[start:stop]
            columns[name] = pyarrow.array(values, mask=values == -1)
    for name in LABEL_COLUMNS:
        labels = getattr(trace, name)
        if labels is not None:
            labels = labels.take(slice(start, stop))
            codes = pyarrow.array(labels.codes, mask=labels.codes == -1)
            columns[name] = pyarrow.DictionaryArray.from_arrays(codes, _text(name, labels.names))
    spans = trace.span_offsets[start : stop + 1]
    columns["span_first"] = _lists(spans, trace.span_first)
    columns["span_length"] = _lists(spans, trace.span_length)
    if trace.raw_ids is not None:
        new = trace.new_block_offsets[start : stop + 1]
        columns["new_raw_ids"] = _lists(new, trace.raw_ids.codes)
        if trace.raw_ids.others:
            columns["other_raw_ids"] = _others(new, trace.raw_ids)
    return pyarrow.table(columns).replace_schema_metadata(metadata(trace))


def from_arrow(table: pyarrow.Table) -> Trace:
    """The trace that ``to_arrow`` made ``table`` of.

    UnsupportedTrace where the table is no trace, or one of a newer layout; BadParameter where its columns disagree.
    """
    facts = trace_facts(table.schema.metadata)
    for name in ("arrival_ns", "span_first", "span_length"):
        if name not in table.column_names:
            raise UnsupportedTrace(f"wanted a column {name}, found none")
    columns: dict[str, Any] = {"arrival_ns": _numbers(table["arrival_ns"])}
    for name in ROW_COLUMNS:
        if name in table.column_names:
            columns[name] = _numbers(table[name])
    for name in LABEL_COLUMNS:
        if name in table.column_names:
            columns[name] = _labels(table[name])
    offsets, first = _values(table["span_first"])
    ends, length = _values(table["span_length"])
    if not np.array_equal(offsets, ends):
        raise UnsupportedTrace("wanted as many span_length as span_first in every row, found others")
    if "new_raw_ids" in table.column_names:
        _, codes = _values(table["new_raw_ids"])
        others: dict[int, Any] = {}
        if "other_raw_ids" in table.column_names:
            for row in table["other_raw_ids"].to_pylist():
                others.update((entry["code"], _FROM_BYTES[entry["kind"]](entry["id"])) for entry in row)
        columns["raw_ids"] = RawIds(codes, others)
    return Trace(
        span_offsets=offsets,
        span_first=first,
        span_length=length,
        n_blocks=facts["n_blocks"],
        contract=facts["contract"],
        definition=facts["definition"],
        **columns,
    )


def trace_facts(schema_metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """What ``metadata`` wrote, ``definition`` as a Definition; UnsupportedTrace where it is not there or of no use."""
    try:
        facts = json.loads((schema_metadata or {})[KEY])
        content, layout = facts["content"], facts["layout"]
    except (KeyError, TypeError, ValueError):
        content = layout = None
    if content != "trace":
        raise UnsupportedTrace("a table, but not a trace that hitcurve wrote")
    if layout != LAYOUT:
        raise UnsupportedTrace(f"a trace of another version of hitcurve: wanted layout {LAYOUT}, found {layout}")
    facts["definition"] = Definition.of_dict(facts["definition"])
    return facts  # type: ignore[no-any-return]


_TO_BYTES = {
    str: ("str", lambda raw: raw.encode("utf-8", "surrogatepass")),
    bytes: ("bytes", lambda raw: raw),
    int: ("int", lambda raw: str(raw).encode()),
}
_FROM_BYTES: dict[str, Callable[[bytes], Any]] = {
    "str": lambda raw: raw.decode("utf-8", "surrogatepass"),
    "bytes": lambda raw: raw,
    "int": int,
}


def _others(new: np.ndarray, raw_ids: RawIds) -> pyarrow.Array:
    """For each request, what the codes stand for that its new blocks (offsets ``new``) are the first to have."""
    import pyarrow

    at = np.searchsorted(raw_ids.first_others, new)
    entries = []
    for block in raw_ids.first_others[at[0] : at[-1]].tolist():
        raw = raw_ids[block]
        kind, encode = _TO_BYTES[type(raw)]
        entries.append({"code": int(raw_ids.codes[block]), "kind": kind, "id": encode(raw)})
    entry = pyarrow.struct([("code", pyarrow.int64()), ("kind", pyarrow.string()), ("id", pyarrow.binary())])
    return pyarrow.ListArray.from_arrays((at - at[0]).astype(np.int32), pyarrow.array(entries, entry))


def _text(name: str, names: tuple[str, ...]) -> pyarrow.Array:
    import pyarrow

    try:
        return pyarrow.array(names, pyarrow.string())
    except UnicodeEncodeError as error:
        raise OutputError(f"{name} {error.object!r} is no valid Unicode, so it cannot be written") from None


def _lists(offsets: np.ndarray, values: np.ndarray) -> pyarrow.Array:
    import pyarrow

    within = values[offsets[0] : offsets[-1]]
    return pyarrow.ListArray.from_arrays((offsets - offsets[0]).astype(np.int32), pyarrow.array(within))


def _values(column: pyarrow.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Offsets int64 and values of a list column, chunk after chunk (their int32 offsets could not hold it whole)."""
    offsets, values, end = [np.zeros(1, np.int64)], [np.empty(0, column.type.value_type.to_pandas_dtype())], 0
    for chunk in column.chunks:
        if chunk.null_count:
            raise UnsupportedTrace("wanted lists of numbers, found a row without one")
        own = chunk.offsets.to_numpy().astype(np.int64)
        offsets.append(own[1:] - own[0] + end)
        values.append(chunk.flatten().to_numpy())
        end = offsets[-1][-1] if len(own) > 1 else end
    return np.concatenate(offsets), np.concatenate(values)


def _numbers(column: pyarrow.ChunkedArray) -> np.ndarray:
    return (column.fill_null(-1) if column.null_count else column).to_numpy()


def _labels(column: pyarrow.ChunkedArray) -> Labels:
    import pyarrow

    if not pyarrow.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    codes = [chunk.indices.fill_null(-1).to_numpy() for chunk in column.chunks]
    names = column.chunk(0).dictionary.to_pylist() if column.num_chunks else []
    return Labels(np.concatenate(codes) if codes else np.empty(0, np.int32), tuple(names)).take(slice(None))
