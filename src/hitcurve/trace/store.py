"""The project's own trace file: one Parquet file, the table of ``hitcurve.trace.arrow``.

pandas, polars and DuckDB read it as it is (``docs/data-model.md`` has queries).  Written in groups of rows, so that
beside the trace only one group is in memory; every page has a checksum, so that a damaged file is an error.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import BinaryIO

import numpy as np

from hitcurve.errors import HitcurveError, TraceError
from hitcurve.publish import published
from hitcurve.trace.arrow import from_arrow, to_arrow, trace_facts
from hitcurve.trace.trace import LABEL_COLUMNS, Trace

GROUP_VALUES = 1 << 21  # spans and new blocks in a group of rows, about
_DELTA = ("arrival_ns", "completion_ns", "input_tokens", "output_tokens", "turn", "new_raw_ids.list.element")


def write_parquet(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write ``trace`` to ``path``, whole or not at all.  O(spans + blocks); OutputError where it cannot be written."""
    from pyarrow import parquet

    bounds = _groups(trace)
    table = to_arrow(trace, 0, bounds[1])
    named = [name for name in LABEL_COLUMNS if name in table.column_names]
    numbers = [name for name in _DELTA if name.split(".")[0] in table.column_names]
    with (
        published(path) as file,
        parquet.ParquetWriter(
            file,
            table.schema,
            compression="zstd",
            compression_level=9,
            use_dictionary=named or False,
            column_encoding=dict.fromkeys(numbers, "DELTA_BINARY_PACKED"),
            write_page_checksum=True,
        ) as writer,
    ):
        writer.write_table(table)
        for start, stop in pairwise(bounds[1:]):
            writer.write_table(to_arrow(trace, start, stop))


def read_parquet(source: str | os.PathLike[str] | BinaryIO) -> Trace:
    """The trace in a file (or a seekable binary file object) that ``write_parquet`` wrote.

    TraceError where there is none, or a foreign, damaged or newer one.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(source, page_checksum_verification=True) as file:
            trace_facts(file.schema_arrow.metadata)  # a foreign file is refused before it is read
            return from_arrow(file.read())
    except HitcurveError as error:
        raise TraceError(_name(source), reason=str(error)) from None
    except FileNotFoundError:
        raise TraceError(_name(source), reason="no such file") from None
    except (pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise TraceError(_name(source), reason=f"not a whole Parquet file: {str(error).splitlines()[0]}") from None


def is_hitcurve_parquet(source: str | os.PathLike[str] | BinaryIO) -> bool:
    """Whether the file's metadata says that it is a trace.  Reads the end of the file."""
    import pyarrow
    from pyarrow import parquet

    try:
        trace_facts(parquet.read_schema(source).metadata)
    except (HitcurveError, pyarrow.ArrowException, OSError, KeyError, TypeError, ValueError):
        return False
    return True


def _groups(trace: Trace) -> list[int]:
    """Bounds of the groups of rows: 0, ..., n_requests; at least one group."""
    values = trace.span_offsets + trace.new_block_offsets + np.arange(trace.n_requests + 1)
    bounds = [0]
    while bounds[-1] < trace.n_requests or len(bounds) == 1:
        upto = int(np.searchsorted(values, values[bounds[-1]] + GROUP_VALUES, side="right")) - 1
        bounds.append(min(trace.n_requests, max(upto, bounds[-1] + 1)))
    return bounds


def _name(source: object) -> str:
    return os.fspath(source) if isinstance(source, (str, os.PathLike)) else str(getattr(source, "name", "trace"))
