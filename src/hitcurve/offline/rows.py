"""Rows for the runner, in batches: Tair rows as they are read, those of other formats from the whole trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import TraceError, UnsupportedTrace
from hitcurve.formats import FORMATS, format_named
from hitcurve.formats.format import TraceFormat, Wish
from hitcurve.formats.opening import Opened, Progress, Source, paths_of
from hitcurve.formats.recognising import first_document, recognised
from hitcurve.formats.tair import TairRows, tair_rows
from hitcurve.formats.tair_rows import BLOCK_SIZE, trace_id
from hitcurve.wording import and_more

if TYPE_CHECKING:
    from hitcurve.trace import Labels, Trace

KEYS = 1 << 17  # of a batch made from a trace: what a megabyte of text holds
INSTANCE = "instance"  # of rows of a trace without tenants


@dataclass(frozen=True)
class Rows:
    """``batches`` of rows in order of time, whose keys stand for ``block_size`` tokens each.

    ``name`` of the trace; ``notes``: what had to be assumed.  Whoever asked for rows closes them.
    """

    name: str
    block_size: int
    batches: Iterator[TairRows]
    notes: tuple[str, ...] = ()
    files: tuple[Opened, ...] = ()

    def close(self) -> None:
        for file in self.files:
            file.close()


def rows_of(
    source: Source,
    block_size: int | None = None,
    progress: Progress | None = None,
    options: Mapping[str, Any] | None = None,
    otherwise: TraceFormat | None = None,
) -> Rows:
    """The rows of a trace in any format.

    ``options``: those of ``read_trace``; any of them but ``format`` has Tair rows read whole too.  ``otherwise``: the
    format of a file of JSON objects that no format recognises.  TraceError for a bad row, when its batch is asked for;
    UnsupportedTrace for a trace without a block size.
    """
    wanted = {name: value for name, value in (options or {}).items() if value}
    named = wanted.pop("format", None)
    paths, notes = paths_of(source)
    files = [Opened(path) for path in paths]
    try:
        format = format_named(named) if named else None
        if format is None and "fields" not in wanted:
            format = _recognised(files[0], otherwise)
        if format is not None and format.name == "tair" and not wanted:
            size = block_size or BLOCK_SIZE
            return Rows(
                and_more([file.name for file in files]),
                size,
                _in_order(files, size, progress),
                tuple(notes),
                tuple(files),
            )
        return _of_trace(files, notes, format, block_size, progress, wanted)
    except BaseException:
        for file in files:
            file.close()
        raise


def _recognised(file: Opened, otherwise: TraceFormat | None) -> TraceFormat:
    try:
        return recognised(file, FORMATS)
    except TraceError:
        if otherwise is None or first_document(file) is None:
            raise
        return otherwise


def _in_order(files: list[Opened], block_size: int, progress: Progress | None) -> Iterator[TairRows]:
    """The rows of all files, one after another."""
    done, total = [0, 0], None if any(f.size is None for f in files) else sum(f.size or 0 for f in files)
    latest = n_rows = n_bytes = 0

    def progress_of_all(rows: int, position: int, size: int | None) -> None:
        done[:] = rows, position
        if progress is not None:
            progress(n_rows + rows, n_bytes + position, total)

    for file in files:
        for rows in tair_rows(file, block_size=block_size, progress=progress_of_all):
            first = int(rows.timestamp_ns[0])
            if first < latest:
                wanted = f">= {latest}, the time before it (in the file before)"
                raise TraceError(file.name, int(rows.lines[0]), field="timestamp_ns", wanted=wanted, found=first)
            latest = int(rows.timestamp_ns[-1])
            yield rows
        n_rows, n_bytes = n_rows + done[0], n_bytes + done[1]


def _of_trace(
    files: list[Opened],
    notes: list[str],
    format: TraceFormat | None,
    block_size: int | None,
    progress: Progress | None,
    options: dict[str, Any],
) -> Rows:
    from hitcurve.formats.reading import read_opened

    own = {name: options.pop(name) for name in list(options) if name in Wish.__dataclass_fields__}
    if format is not None and format.name == "tair":
        own.setdefault("identity", "prefix" if own.get("id_kind") == "block" else "raw")  # keys as LiteHit takes them
    wish = Wish(**own, block_size=block_size, progress=progress, options=options)
    return rows_of_trace(read_opened(files, notes, format, FORMATS, wish))


def rows_of_trace(trace: Trace) -> Rows:
    """The requests of a trace as rows whose keys are its dense ids.  Tenants are instances; partial tails are left out.

    UnsupportedTrace for a trace without a block size, and where requests lack full blocks.
    """
    from hitcurve.formats.assembling import without_partial_tails

    size, tokens, notes = trace.definition.block_size, trace.input_tokens, trace.definition.notes
    name = and_more(trace.definition.sources) or "trace"
    if size is None:
        raise UnsupportedTrace(f"{name}: the block size is unknown; name it (--block-size)")
    if tokens is None:
        return Rows(name, size, _batches(trace, trace.request_blocks * size, name), notes)
    if bool((trace.request_blocks * size > tokens).any()):
        trace = without_partial_tails(trace)
        notes = (*notes, "partial tail blocks left out: facts are of full blocks")
    lacking = np.flatnonzero(trace.request_blocks != tokens // size)
    if len(lacking):
        row = lacking[0]
        found = f"{trace.request_blocks[row]} of {size} tokens for {tokens[row]} tokens"
        raise UnsupportedTrace(f"{name}: request {row + 1}: wanted all its full blocks, found {found}")
    return Rows(name, size, _batches(trace, tokens, name), notes)


def _batches(trace: Trace, tokens: np.ndarray, name: str) -> Iterator[TairRows]:
    from hitcurve.trace.interning import expand

    ends = np.concatenate([[0], np.cumsum(trace.request_blocks, dtype=np.int64)])
    begin = 0
    while begin < len(trace):
        end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + KEYS, side="right")) - 1)
        keys = np.empty(ends[end] - ends[begin], np.int64)
        spans = slice(trace.span_offsets[begin], trace.span_offsets[end])
        expand(trace.span_first[spans], trace.span_length[spans], keys)
        times = trace.arrival_ns[begin:end]
        instances = [instance or INSTANCE for instance in _names(trace.tenant, begin, end)]
        named = zip(_names(trace.request_id, begin, end), instances, times.tolist(), strict=True)
        yield TairRows(
            path=name,
            lines=np.arange(begin + 1, end + 1),
            is_write=np.zeros(end - begin, bool),
            instance_ids=instances,
            trace_ids=[own or trace_id(instance, time) for own, instance, time in named],
            timestamp_ns=times,
            input_len=tokens[begin:end],
            keys=keys,
            ends=ends[begin : end + 1] - ends[begin],
        )
        begin = end


def _names(labels: Labels | None, begin: int, end: int) -> list[str | None]:
    if labels is None:
        return [None] * (end - begin)
    return [labels[row] for row in range(begin, end)]
