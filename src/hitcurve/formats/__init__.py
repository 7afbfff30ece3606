"""Trace formats: one file each, and opening, recognising and checking once for all."""

from __future__ import annotations

import os
from typing import Any

from hitcurve.errors import BadParameter, UnknownName
from hitcurve.formats.bailian import BAILIAN
from hitcurve.formats.format import TraceFormat, Wish
from hitcurve.formats.jsonl import JSONL
from hitcurve.formats.lcp import LCP_FORMAT
from hitcurve.formats.lcsllm import LCSLLM_FORMAT
from hitcurve.formats.mooncake import MOONCAKE
from hitcurve.formats.opening import Progress, Source
from hitcurve.formats.oracle_general import ORACLE_GENERAL
from hitcurve.formats.parquet import PARQUET
from hitcurve.formats.publisher_log import PUBLISHER_LOG
from hitcurve.formats.tair import TAIR
from hitcurve.formats.text import TEXT
from hitcurve.formats.weka import WEKA
from hitcurve.trace import Trace

# In the order in which they are asked whether a file is theirs: the more special first.
FORMATS: tuple[TraceFormat, ...] = (
    PARQUET,
    LCP_FORMAT,
    LCSLLM_FORMAT,
    TAIR,
    PUBLISHER_LOG,
    TEXT,
    WEKA,
    BAILIAN,
    MOONCAKE,
    JSONL,
    ORACLE_GENERAL,
)

__all__ = ["FORMATS", "TraceFormat", "format_named", "read_trace", "write_trace"]


def format_named(name: str) -> TraceFormat:
    """The format of that name or alias; UnknownName with the nearest ones."""
    for format in FORMATS:
        if name == format.name or name in format.aliases:
            return format
    raise UnknownName("format", name, [format.name for format in FORMATS], listing="hitcurve formats")


def read_trace(
    source: Source,
    *,
    format: str | None = None,
    block_size: int | None = None,
    identity: str = "prefix",
    id_kind: str | None = None,
    id_scope: str | None = None,
    tail: str = "keep",
    time_unit: str | None = None,
    head: int | None = None,
    skip_bad: bool = False,
    sort: bool = False,
    progress: Progress | None = None,
    **format_options: Any,
) -> Trace:
    """Read a trace from a path, a folder, a glob pattern, ``-`` (standard input), or a list of those.

    ``format``      name of the format; recognised from the content where None (with the same result)
    ``block_size``  tokens in a full block; in the file, or inferred from lengths and id counts, where None
    ``identity``    ``prefix``: a block is its whole path; ``raw``: its id alone
    ``id_kind``     what the ids in the file mean: ``prefix``, ``block``, ``raw``
    ``id_scope``    where an id means the same: ``global``, ``file``, ``conversation``
    ``tail``        a partial last block: ``keep`` its id, or ``drop`` it
    ``time_unit``   unit of the times in the file: ``s``, ``ms``, ``us``, ``ns``
    ``head``        read the first requests only
    ``skip_bad``    leave out bad rows; ``definition.rows_dropped`` and ``notes`` say how many, and quote the first
    ``sort``        put rows into time order; otherwise a step back is an error
    ``progress``    called as progress(rows so far, bytes so far, bytes in all or None)

    Other options belong to the format (``FORMATS`` lists them).  What the reader assumed stands in
    ``trace.definition``.  TraceError (path, line, field, wanted, found) for bad input, UnknownName for a format that
    does not exist.  Memory is O(unique blocks + spans + requests).
    """
    _one_of("identity", identity, ("prefix", "raw"))
    _one_of("id_kind", id_kind, (None, "prefix", "block", "raw"))
    _one_of("id_scope", id_scope, (None, "global", "file", "conversation"))
    _one_of("tail", tail, ("keep", "drop"))
    _one_of("time_unit", time_unit, (None, "s", "ms", "us", "ns"))
    for name, value in (("block_size", block_size), ("head", head)):
        if value is not None and value < 1:
            raise BadParameter(f"{name}: wanted at least 1, found {value}")
    wish = Wish(
        block_size, identity, id_kind, id_scope, tail, time_unit, head, skip_bad, sort, progress, format_options
    )
    from hitcurve.formats.reading import read

    return read(source, None if format is None else format_named(format), FORMATS, wish)


def write_trace(trace: Trace, path: str | os.PathLike[str], format: str | None = None, **options: Any) -> None:
    """Write ``trace`` to ``path`` (``-``: standard output), whole or not at all.

    ``format`` defaults to what the ending of ``path`` says; ``.gz`` and ``.zst`` at its end compress.  Reading the
    file again gives the same curve.  OutputError where it cannot be written, UnsupportedTrace where the format has no
    writer.
    """
    from hitcurve.formats import writing

    chosen = format_named(format or writing.format_of(path))
    if chosen.write is None:
        raise writing.no_writer(chosen.name)
    known = [option.name for option in chosen.write_options]
    for name in options:
        if name not in known:
            raise BadParameter(f"writing {chosen.name} has no option {name!r}")
    chosen.write(trace, path, options)


def _one_of(name: str, value: Any, known: tuple[str | None, ...]) -> None:
    if value not in known:
        raise BadParameter(f"{name}: wanted {', '.join(k for k in known if k)}, found {value!r}")
