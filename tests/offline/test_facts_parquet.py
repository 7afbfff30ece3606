"""Facts as Parquet: everything kept, in groups; foreign and damaged files are refused with a reason."""

from __future__ import annotations

import io
import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, OutputError, TraceError
from hitcurve.offline import facts_parquet
from hitcurve.offline.facts_parquet import FactsParquet, read_parquet
from hitcurve.projection import INFINITE
from hitcurve.publish import published
from tests.naive.facts import Row
from tests.offline.random_facts import fact_rows, in_columns


def written(*batches, **provenance) -> io.BytesIO:
    file = io.BytesIO()
    with FactsParquet(file, provenance) as facts:
        for rows in batches:
            facts.put(rows)
    file.seek(0)
    return file


def rows_of(batches) -> list[Row]:
    found = []
    for rows in batches:
        columns = (rows.timestamp_ns, rows.input_token_len, rows.block_size_tokens, rows.block_bytes, rows.in_bytes)
        values = zip(rows.trace_id, rows.instance_id, *(column.tolist() for column in columns), strict=True)
        ttls = [None if ttl == INFINITE else ttl for ttl in rows.ttl_ns.tolist()]
        found += [Row(*row, rows.fact(i), ttls[i]) for i, row in enumerate(values)]
    return found


@settings(max_examples=60, deadline=None)
@given(st.lists(fact_rows(most=5), max_size=4), st.integers(1, 6), st.integers(1, 6))
def test_what_was_written_is_read(batches, group, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_parquet, "GROUP", group)
        patch.setattr(facts_parquet, "BATCH_ROWS", batch)
        file = written(*map(in_columns, batches), trace="x.jsonl", exact=True)
        told, found = read_parquet(file, "x")
        assert rows_of(found) == [row for rows in batches for row in rows]
        assert (told["content"], told["trace"], told["exact"]) == ("facts", "x.jsonl", True)


def test_groups_hold_about_so_many_rows_and_pairs(monkeypatch):
    monkeypatch.setattr(facts_parquet, "GROUP", 10)
    rows = in_columns([Row("t", "i", 1, 9, 1, 1, False, [(1, 1, 0), (3, 1, 0), (5, 1, 0)])] * 2)
    parquet = pyarrow.parquet.ParquetFile(written(*[rows] * 5))
    assert [parquet.metadata.row_group(k).num_rows for k in range(parquet.num_row_groups)] == [4, 4, 2]
    parquet = pyarrow.parquet.ParquetFile(written(in_columns([Row("t", "i", 1, 9, 1, 1, False, [(1, 9, 0)])] * 16)))
    assert [parquet.metadata.row_group(k).num_rows for k in range(parquet.num_row_groups)] == [5, 5, 5, 1]
    assert all(parquet.metadata.row_group(0).column(k).compression == "ZSTD" for k in range(3))


def test_what_is_told_may_be_learned_while_writing():
    file = io.BytesIO()
    with FactsParquet(file, {"trace": "x"}) as facts:
        facts.put(in_columns([]))
        facts.provenance["exact"] = False
    told, found = read_parquet(file, "x")
    assert (told["exact"], list(found)) == (False, [])
    assert json.loads(pyarrow.parquet.read_metadata(file).metadata[b"hitcurve"])["trace"] == "x"


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(BadParameter, match="have no ages"):
        written(in_columns([GOOD], ages=False))
    path = tmp_path / "facts.parquet"
    path.write_text("old")
    with (
        pytest.raises(OutputError, match=r"instance_id '\\ud800' is no valid Unicode"),
        published(path) as file,
        FactsParquet(file) as facts,
    ):
        facts.put(in_columns([Row("t", "\ud800", 1, 1, 1, 1, False, [])]))
    assert path.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["facts.parquet"]


GOOD = Row("t", "i", 1, 9, 2, 3, False, [(1, 2, 5), (4, 1, 6)], 7)


def changed(**columns) -> io.BytesIO:
    """A file of three good rows, some columns of it changed or (None) left out."""
    table = pyarrow.parquet.read_table(written(in_columns([GOOD] * 3))).replace_schema_metadata(None)
    for name, values in columns.items():
        table = table.drop_columns(name)
        if values is not None:
            table = table.append_column(name, values)
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file


def test_files_made_by_others_are_read():
    table = pyarrow.parquet.read_table(written(in_columns([GOOD] * 3)))
    lists = pyarrow.array([[1, 4]] * 3, pyarrow.large_list(pyarrow.uint32()))
    names = table["instance_id"].combine_chunks().dictionary_encode()
    file = changed(threshold=lists, instance_id=names)
    told, found = read_parquet(file, "x")
    assert told == {} and rows_of(found) == [GOOD] * 3


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ({"age_ns": None}, "not facts: no column age_ns"),
        ({"block_bytes": pyarrow.array([3, 0, 3])}, "row 2: block_bytes: wanted at least 1, found 0"),
        ({"threshold": pyarrow.array([[1, 4], [1, 4], [3, 3]])}, "row 3: threshold, blocks: wanted segments (start, "
         "length) of at least 1 that rise and do not overlap, found [[3, 2], [3, 1]]"),
        ({"blocks": pyarrow.array([[1, 4], [1], [3, 3]])}, "cannot be read as facts: the lists threshold, "
         "blocks, age_ns of one row differ in length"),
        ({"blocks": pyarrow.array([[1, 4], None, [3, 3]])}, "cannot be read as facts: column blocks has nulls"),
        ({"blocks": pyarrow.array([[1, 4], [1, None], [3, 3]])}, "cannot be read as facts: column blocks has nulls"),
        ({"trace_id": pyarrow.array(["a", None, "b"])}, "cannot be read as facts: column trace_id has nulls"),
        ({"timestamp_ns": pyarrow.array(["a", "b", "c"])}, "cannot be read as facts: "),
        ({"blocks": pyarrow.array([1, 2, 3])}, "cannot be read as facts: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(columns, says):
    with pytest.raises(TraceError) as error:
        list(read_parquet(changed(**columns), "f.parquet")[1])
    assert str(error.value).startswith(f"f.parquet: {says}"), str(error.value)


def test_foreign_and_damaged_files(tmp_path):
    from hitcurve.trace import Trace
    from hitcurve.trace.store import write_parquet

    write_parquet(Trace.of_requests([[1]]), tmp_path / "trace.parquet")
    rows = in_columns([Row(f"t{k}", "i", k, 9, 2, 3, False, [(1, 2, 5)]) for k in range(5000)])
    whole = written(rows).getvalue()
    (tmp_path / "cut.parquet").write_bytes(whole[:-20])
    other = whole.replace(b'"layout": 1', b'"layout": 2')
    (tmp_path / "other.parquet").write_bytes(other)
    column = pyarrow.parquet.ParquetFile(io.BytesIO(whole)).metadata.row_group(0).column(0)
    at = column.data_page_offset + column.total_compressed_size // 2
    (tmp_path / "flipped.parquet").write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
    for name, says in [
        ("trace", "a trace, not facts: hitcurve facts makes them of it"),
        ("cut", "not a whole Parquet file: "),
        ("other", "facts of another version of hitcurve: wanted layout 1, found 2"),
        ("flipped", "cannot be read as facts: "),
        ("none", "not a whole Parquet file: "),
    ]:
        path = tmp_path / f"{name}.parquet"
        with pytest.raises(TraceError) as error:
            list(read_parquet(path, "f")[1])
        assert str(error.value).startswith(f"f: {says}"), str(error.value)


def test_ages_stay_as_they_are():
    rows = in_columns([Row("t", "i", 2**63 - 1, 2**62, 2**40, 2**62, True, [(2**63 - 1, 2**62, 2**63 - 1)])])
    (found,) = read_parquet(written(rows), "x")[1]
    assert rows_of([found]) == rows_of([rows])
    assert np.array_equal(found.age_ns, rows.age_ns)
