"""The project's own Parquet file (``hitcurve.trace.store``), as one format among the others."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hitcurve.errors import BadParameter
from hitcurve.formats.format import Defaults, TraceFormat, Wish

if TYPE_CHECKING:
    from hitcurve.formats.opening import Opened
    from hitcurve.trace import Trace

MAGIC = b"PAR1"
TOLD = ("block_size", "id_kind", "id_scope", "time_unit")


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return start.startswith(MAGIC)


def read(files: list[Opened], wish: Wish) -> Trace:
    from hitcurve.formats.assembling import without_partial_tails
    from hitcurve.trace.store import read_parquet

    traces = [read_parquet(f.path if f.path and not f.compressed else io.BytesIO(f.peek(1 << 62))) for f in files]
    for name in TOLD:
        given, told = getattr(wish, name), [getattr(t.definition, name) for t in traces]
        if given is not None and any(given != value for value in told):
            raise BadParameter(f"{name}: the file was made with {told[0]}, which cannot be changed into {given}")
    if any(t.definition.identity != wish.identity for t in traces) and wish.identity != "prefix":
        raise BadParameter(f"identity: the file was made with prefix, which cannot be changed into {wish.identity}")
    if len(traces) > 1 or wish.head is not None:
        from hitcurve.trace.transforms import head, merge

        trace = merge(traces, scope="global") if len(traces) > 1 else traces[0]
        trace = trace if wish.head is None else head(trace, wish.head)
    else:
        trace = traces[0]
    if wish.progress is not None:
        wish.progress(trace.n_requests, sum(f.size or 0 for f in files), sum(f.size or 0 for f in files))
    return without_partial_tails(trace) if wish.tail == "drop" and trace.definition.tail == "keep" else trace


def write(trace: Trace, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
    from hitcurve.trace.store import write_parquet

    write_parquet(trace, path)


PARQUET = TraceFormat(
    name="parquet",
    title="hitcurve's own Parquet file",
    what="One row a request, its spans as list columns, and all that is known about the trace in the file's metadata: "
    "nothing is assumed on reading. pandas, polars and DuckDB read it as it is.",
    aliases=("hitcurve",),
    defaults=Defaults(block_size=None, id_kind="prefix", id_scope="global", tail_rule="floor", time_unit=None),
    sample="",
    fields=(
        ("arrival_ns", "int64: arrival in nanoseconds, never decreasing"),
        ("span_first, span_length", "lists: the request's blocks as runs of consecutive ids, from the root"),
        ("input_tokens, output_tokens, completion_ns, turn", "numbers, where the trace has them; null where unknown"),
        ("session, tenant, request_type ...", "labels, where the trace has them"),
    ),
    recognise=recognise,
    read=read,
    write=write,
)
