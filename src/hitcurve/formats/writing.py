"""``write_trace``: a trace as rows of JSON, compressed by the ending of the path, whole or not at all.

Block ids are written as the file had them where they say as much as the trace does, and as dense ids (each a whole
path) otherwise: under namespaces, where one raw id stands for several blocks.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import orjson

from hitcurve.errors import OutputError, UnsupportedTrace
from hitcurve.formats.columns import UNITS
from hitcurve.publish import published
from hitcurve.trace import Labels, Trace

BATCH = 1 << 16  # bytes gathered before they are written
ENDINGS = {".parquet": "parquet", ".lcp": "lcp", ".jsonl": "mooncake", ".json": "mooncake", ".ndjson": "mooncake"}


def format_of(path: str | os.PathLike[str]) -> str:
    """The name of the format that the ending of ``path`` stands for."""
    name = os.fspath(path).removesuffix(".gz").removesuffix(".zst")
    for ending, format in ENDINGS.items():
        if name.endswith(ending):
            return format
    raise OutputError(f"{path}: the ending tells no format; name it (known endings: {', '.join(ENDINGS)})")


def in_unit(times_ns: np.ndarray, unit: str) -> list[int | float]:
    """Times in ``unit``: whole numbers, or the nearest float (exact to the nanosecond up to 26 days)."""
    per_unit = UNITS[unit]
    return [ns // per_unit if ns % per_unit == 0 else ns / per_unit for ns in times_ns.tolist()]


def previous_in_session(trace: Trace) -> np.ndarray:
    """int64 (requests,): the request before it in its session, or -1."""
    assert trace.session is not None
    codes = trace.session.codes
    order = np.argsort(codes, kind="stable")
    before = np.full(len(codes), -1)
    follows = (codes[order[1:]] == codes[order[:-1]]) & (codes[order[1:]] >= 0)
    before[order[1:][follows]] = order[:-1][follows]
    return before


def write_rows(
    trace: Trace,
    path: str | os.PathLike[str],
    columns: Mapping[str, Any],
    ids_key: str,
    block_keys: np.ndarray | None = None,
) -> None:
    """One JSON object a request: ``columns`` (None: left out; so are single values -1 and None), then the ids.

    ``block_keys`` (n_blocks,): what is written for each block, in place of its id.
    """
    lists = {
        key: [None if code < 0 else column.names[code] for code in column.codes.tolist()]
        if isinstance(column, Labels)
        else [None if value == -1 and key != "parent_chat_id" else value for value in list(column)]
        for key, column in columns.items()
        if column is not None
    }
    raw = _raw_ids(trace) if block_keys is None else block_keys.__getitem__
    with opened(path) as file:
        waiting: list[bytes] = []
        size = 0
        for request in range(trace.n_requests):
            row = {key: values[request] for key, values in lists.items() if values[request] is not None}
            row[ids_key] = raw(trace.blocks(request))
            line = _json(row)
            waiting.append(line)
            size += len(line)
            if size > BATCH:
                file.write(b"".join(waiting))
                waiting, size = [], 0
        file.write(b"".join(waiting))


def _json(row: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE)
    except orjson.JSONEncodeError:  # lone surrogates, numbers beyond 64 bits: rare, and the stdlib's are exact
        import json

        def plain(value: Any) -> Any:
            return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value

        return json.dumps({k: plain(v) for k, v in row.items()}, separators=(",", ":")).encode() + b"\n"


def _raw_ids(trace: Trace) -> Any:
    """A function from dense ids to what is written for them."""
    raw = trace.raw_ids
    if raw is None or trace.definition.id_scope != "global" or trace.tenant is not None:
        return lambda blocks: blocks
    if not raw.others:
        return lambda blocks: raw.codes[blocks]
    if any(isinstance(other, bytes) for other in raw.others.values()):
        return lambda blocks: blocks
    return lambda blocks: [raw.others.get(code, code) for code in raw.codes[blocks].tolist()]


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Where the bytes of ``path`` go: published at the end, ``-`` is standard output, ``.gz`` and ``.zst`` compress."""
    name = os.fspath(path)
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with published(path) as file:
        if name.endswith(".gz"):
            with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
                yield packed  # type: ignore[misc]
        elif name.endswith(".zst"):
            import zstandard

            with zstandard.ZstdCompressor(level=9).stream_writer(file, closefd=False) as packed:
                yield packed
        else:
            yield file


def no_writer(name: str) -> UnsupportedTrace:
    return UnsupportedTrace(f"format {name} can be read, but not written")
