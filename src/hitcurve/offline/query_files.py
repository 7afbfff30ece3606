"""The answers of a query as CSV or Parquet: a row for each request (or instance) and capacity."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

import numpy as np

from hitcurve.errors import OutputError
from hitcurve.offline.buffers import number_array, text_array
from hitcurve.offline.query import Answer, Query
from hitcurve.offline.query_tables import provenance, summary_table

if TYPE_CHECKING:
    import pyarrow


def write_csv(query: Query, file: IO[bytes], requests: bool = True) -> None:
    """Write ``requests`` (else summaries), under a line of column names."""
    from pyarrow import csv

    file.write(",".join(_schema(query, requests).names).encode() + b"\n")
    for table in _tables(query, requests):
        csv.write_csv(table, file, csv.WriteOptions(include_header=False))


def write_parquet(query: Query, file: IO[bytes], requests: bool = True) -> None:
    """Write ``requests`` (else summaries); what was counted stands in the metadata, as JSON under ``hitcurve``."""
    from pyarrow import parquet

    with parquet.ParquetWriter(file, _schema(query, requests), compression="zstd") as writer:
        for table in _tables(query, requests):
            writer.write_table(table)
        writer.add_key_value_metadata({b"hitcurve": json.dumps(provenance(query)).encode()})


def _schema(query: Query, requests: bool) -> pyarrow.Schema:
    import pyarrow

    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    capacity = (query.capacities.field, real if query.capacities.field == "capacity_gb" else text)
    if requests:
        names, numbers = ("trace_id", "instance_id"), ("timestamp_ns", "input_token_len")
        columns = [*((name, text) for name in names), *((name, whole) for name in numbers), capacity]
        return pyarrow.schema([*columns, ("hit_blocks", whole), ("hit_rate", real)])
    sums = ("requests", "total_input_tokens", "total_hit_blocks", "total_hit_tokens")
    return pyarrow.schema([("instance_id", text), capacity, *((name, whole) for name in sums), ("hit_rate", real)])


def _tables(query: Query, requests: bool) -> Iterator[pyarrow.Table]:
    import pyarrow

    schema = _schema(query, requests)
    for answer in query.answers():
        if requests:
            yield pyarrow.table(_request_columns(query, answer), schema)
    if not requests:
        try:
            yield pyarrow.table(dict(summary_table(query).columns), schema)
        except OverflowError:
            raise OutputError("a sum of 2^63 or more does not fit into this form; --format jsonl has room") from None


def _request_columns(query: Query, answer: Answer) -> list[pyarrow.Array]:

    n, k = answer.hit_blocks.shape
    rows, row, place = answer.rows, np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
    names = query.capacities.names
    if query.capacities.field == "capacity_gb":
        capacities = number_array(np.array(names, float))
    else:
        capacities = text_array("capacity", [str(name) for name in names])
    return [
        *(text_array(name, getattr(rows, name)).take(number_array(row)) for name in ("trace_id", "instance_id")),
        number_array(rows.timestamp_ns[row]),
        number_array(rows.input_token_len[row]),
        capacities.take(number_array(place)),
        number_array(answer.hit_blocks.ravel().astype(np.int64)),
        number_array(answer.hit_rates.ravel()),
    ]
