"""Facts with their ages, as Parquet: they answer any capacity and any time to live, here as in DuckDB, polars, pandas.

    trace_id, instance_id                        string
    timestamp_ns, input_token_len,
    block_size_tokens, block_bytes               int64
    ttl_ns                                       int64, time to live of the row's instance; null for none
    in_bytes                                     bool, what the lists hold
    threshold, blocks, age_ns                    list<int64>, of equal lengths
        in_bytes false                           segments: blocks needed by the first block, length
        in_bytes true                            points: bytes needed, blocks that hit from there on

What is true of the whole file stands in its metadata, as JSON under ``hitcurve``.  Rows come in groups of about a
million rows and pairs, so that one group is in memory at a time, and every page has a checksum.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np

from hitcurve._version import __version__
from hitcurve.errors import BadParameter, TraceError
from hitcurve.offline.buffers import list_array, number_array, numbers_of, text_array
from hitcurve.offline.checking import problem
from hitcurve.offline.fact_rows import FactRows
from hitcurve.projection import INFINITE

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

KEY = b"hitcurve"
LAYOUT = 1
GROUP = 1 << 20  # rows and pairs of a group of rows, about
BATCH_ROWS = 1 << 14
NAMES, LISTS = ("trace_id", "instance_id"), ("threshold", "blocks", "age_ns")
NUMBERS = ("timestamp_ns", "input_token_len", "block_size_tokens", "block_bytes")


def schema() -> pyarrow.Schema:
    import pyarrow

    names, numbers = ((name, pyarrow.string()) for name in NAMES), ((name, pyarrow.int64()) for name in NUMBERS)
    lists = ((name, pyarrow.list_(pyarrow.int64())) for name in LISTS)
    return pyarrow.schema([*names, *numbers, ("ttl_ns", pyarrow.int64()), ("in_bytes", pyarrow.bool_()), *lists])


class FactsParquet:
    """A facts file being written to ``file`` (binary), whole when the ``with`` block ends well.

    ``provenance``: what goes into the metadata, ready for JSON; more may be added until then.
    """

    def __init__(self, file: IO[bytes], provenance: Mapping[str, Any] | None = None) -> None:
        from pyarrow import parquet

        self.provenance: dict[str, Any] = dict(provenance or {})
        self._waiting: list[pyarrow.Table] = []
        self._size = 0
        self._writer = parquet.ParquetWriter(
            file,
            schema(),
            compression="zstd",
            use_dictionary=["instance_id", "block_size_tokens", "block_bytes", "ttl_ns"],
            column_encoding={
                **dict.fromkeys(NUMBERS[:2], "DELTA_BINARY_PACKED"),
                **{f"{name}.list.element": "DELTA_BINARY_PACKED" for name in LISTS},
            },
            write_page_checksum=True,
        )

    def put(self, rows: FactRows) -> None:
        """Append ``rows``.  BadParameter for facts without ages, OutputError for names that are no valid Unicode."""
        for piece in rows.pieces(GROUP):
            self._waiting.append(to_arrow(piece))
            self._size += len(piece) + len(piece.first)
            if self._size >= GROUP:
                self._write_group()

    def _write_group(self) -> None:
        import pyarrow

        if self._waiting:
            table = pyarrow.concat_tables(self._waiting)
            self._writer.write_table(table, row_group_size=len(table))
        self._waiting, self._size = [], 0

    def __enter__(self) -> FactsParquet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self._write_group()
            told = {"content": "facts", "layout": LAYOUT, "hitcurve": __version__, **self.provenance}
            self._writer.add_key_value_metadata({KEY: json.dumps(told).encode()})
        self._writer.close()


def to_arrow(rows: FactRows) -> pyarrow.Table:
    """``rows`` as an Arrow table.  O(pairs)."""
    import pyarrow

    if rows.age_ns is None:
        raise BadParameter("these facts have no ages (they were read from a CSV file): Parquet facts need them")
    ttl_ns = np.full(len(rows), INFINITE) if rows.ttl_ns is None else rows.ttl_ns
    columns = [
        *(text_array(name, getattr(rows, name)) for name in NAMES),
        *(number_array(getattr(rows, name)) for name in NUMBERS),
        number_array(ttl_ns, ttl_ns < INFINITE),
        number_array(rows.in_bytes),
        *(list_array(rows.offsets - rows.offsets[0], values) for values in (rows.first, rows.second, rows.age_ns)),
    ]
    return pyarrow.table(columns, schema())


def read_parquet(source: Path | BinaryIO, name: str) -> tuple[dict[str, Any], Iterator[FactRows]]:
    """The metadata of a facts file (empty where it has none), and its rows in batches, with ages.

    ``source``: a path, or a seekable binary file; ``name`` stands in errors.  TraceError for a foreign or damaged file,
    and while reading for the first row that cannot be.
    """
    import pyarrow
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(source, page_checksum_verification=True)
        told = json.loads((file.metadata.metadata or {}).get(KEY, b"{}"))
        told = told if isinstance(told, dict) else {}
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise TraceError(name, reason=f"not a whole Parquet file: {str(error).splitlines()[0]}") from None
    content, layout = told.get("content", "facts"), told.get("layout", LAYOUT)
    missing = [column for column in schema().names if column not in file.schema_arrow.names]
    if content != "facts" or missing:
        what = "a trace, not facts: hitcurve facts makes them of it" if content == "trace" else "not facts"
        raise TraceError(name, reason=what + (f": no column {missing[0]}" if content == "facts" else ""))
    if layout != LAYOUT:
        raise TraceError(name, reason=f"facts of another version of hitcurve: wanted layout {LAYOUT}, found {layout}")
    return told, _batches(file, name)


def _batches(file: parquet.ParquetFile, name: str) -> Iterator[FactRows]:
    import pyarrow

    done = 0
    with file:
        for group in range(file.num_row_groups):
            try:
                table = file.read_row_group(group, schema().names).select(schema().names).cast(schema())
                table = table.combine_chunks()
                _check_columns(table)
                for start in range(0, len(table), BATCH_ROWS):
                    rows = _from_arrow(table.slice(start, BATCH_ROWS))
                    if (wrong := problem(rows)) is not None:
                        field = wrong.field or "threshold, blocks"
                        where = f"row {done + start + wrong.row + 1}: {field}"
                        raise TraceError(name, field=where, wanted=wrong.wanted, found=wrong.found)
                    yield rows
            except (pyarrow.ArrowException, OSError, ValueError) as error:
                raise TraceError(name, reason=f"cannot be read as facts: {str(error).splitlines()[0]}") from None
            done += len(table)


def _check_columns(table: pyarrow.Table) -> None:
    """ValueError for nulls, and for lists of one row that differ in length."""
    for column in schema().names:
        values = table[column].combine_chunks()
        inner = values.flatten().null_count if column in LISTS else 0
        if column != "ttl_ns" and values.null_count + inner:
            raise ValueError(f"column {column} has nulls")
    lengths = [np.diff(numbers_of(table[column].combine_chunks().offsets)) for column in LISTS]
    if any(not np.array_equal(lengths[0], other) for other in lengths[1:]):
        raise ValueError(f"the lists {', '.join(LISTS)} of one row differ in length")


def _from_arrow(table: pyarrow.Table) -> FactRows:
    lists = [table[name].combine_chunks() for name in LISTS]
    offsets = numbers_of(lists[0].offsets).astype(np.int64)
    first, second, age_ns = (numbers_of(values.flatten()) for values in lists)
    trace_id, instance_id = (table[name].to_pylist() for name in NAMES)
    plain = (numbers_of(table[name].combine_chunks()) for name in (*NUMBERS, "in_bytes"))
    timestamp_ns, input_token_len, block_size_tokens, block_bytes, in_bytes = plain
    return FactRows(
        trace_id,
        instance_id,
        timestamp_ns,
        input_token_len,
        block_size_tokens,
        block_bytes,
        in_bytes,
        offsets - offsets[0],
        first,
        second,
        age_ns,
        numbers_of(table["ttl_ns"].combine_chunks(), INFINITE),
    )
