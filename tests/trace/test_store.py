"""Our Parquet file: what is written is read, by others too; what is damaged or foreign is refused in one line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import OutputError, TraceError
from hitcurve.table import Table
from hitcurve.trace import Labels, Trace, arrow, store
from tests.trace.sameness import told
from tests.trace.traces import odd_ids, plain_ids, traces


@pytest.fixture
def small() -> Trace:
    return Trace.of_requests(
        [[7, 8, 9], [7, 8, 10], [], [7, 8, 9, 11]],
        block_size=16,
        input_tokens=[48, 50, 3, 64],
        output_tokens=[5, -1, 2, 7],
        turn=[0, 1, -1, 2],
        session=Labels.of(["a", "a", None, "b"]),
    )


@settings(max_examples=60)
@given(st.one_of(traces(plain_ids), traces(odd_ids)), st.sampled_from([1, 7, store.GROUP_VALUES]))
def test_round_trip_is_identity(tmp_path_factory: pytest.TempPathFactory, trace: Trace, group: int) -> None:
    path = tmp_path_factory.mktemp("store") / "trace.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "GROUP_VALUES", group)
        store.write_parquet(trace, path)
    again = store.read_parquet(path)
    assert told(again) == told(trace)
    assert store.is_hitcurve_parquet(path)
    with open(path, "rb") as file:
        assert told(store.read_parquet(file)) == told(trace)
    assert told(arrow.from_arrow(trace.to_arrow())) == told(trace)


def test_a_trace_without_raw_ids_stays_one(small: Trace, tmp_path: Path) -> None:
    bare = replace(small, raw_ids=None)
    store.write_parquet(bare, tmp_path / "t.parquet")
    assert told(store.read_parquet(tmp_path / "t.parquet")) == told(bare)


def test_pandas_polars_and_duckdb_read_it_as_it_is(small: Trace, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    store.write_parquet(small, path)
    blocks = [b for i in range(small.n_requests) for b in small.blocks(i).tolist()]

    import pandas

    frame = pandas.read_parquet(path)
    assert frame["input_tokens"].tolist() == [48, 50, 3, 64]
    assert frame["session"].astype(object).where(frame["session"].notna(), None).tolist() == ["a", "a", None, "b"]
    spans = frame[["span_first", "span_length"]].explode(["span_first", "span_length"]).dropna()
    assert [b for f, n in spans.itertuples(index=False) for b in range(f, f + n)] == blocks

    import polars

    table = polars.read_parquet(path)
    assert table["output_tokens"].to_list() == [5, None, 2, 7]
    assert table["session"].cast(polars.String).to_list() == ["a", "a", None, "b"]
    exploded = table.select("span_first", "span_length").explode("span_first", "span_length").drop_nulls()
    assert [b for f, n in exploded.rows() for b in range(f, f + n)] == blocks
    assert table["new_raw_ids"].to_list() == [[7, 8, 9], [10], [], [11]]

    import duckdb

    with duckdb.connect() as database:
        query = f"""select session, sum(list_sum(span_length))::int from '{path}' group by session order by session"""
        assert database.execute(query).fetchall() == [("a", 6), ("b", 4), (None, None)]
        query = f"""select f, n from (select unnest(span_first) f, unnest(span_length) n, arrival_ns from '{path}')
                    order by arrival_ns, f"""
        assert [b for f, n in database.execute(query).fetchall() for b in range(f, f + n)] == blocks


def test_damaged_files_end_in_one_line(small: Trace, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    store.write_parquet(small, path)
    whole = path.read_bytes()
    random = np.random.default_rng(1)
    for cut in [0, 1, 4, len(whole) // 2, len(whole) - 1]:
        path.write_bytes(whole[:cut])
        with pytest.raises(TraceError, match=r"t\.parquet: not a whole Parquet file") as caught:
            store.read_parquet(path)
        assert "\n" not in str(caught.value)
        assert not store.is_hitcurve_parquet(path)
    for _ in range(300):
        bad = bytearray(whole)
        bad[random.integers(len(bad))] ^= 1 << random.integers(8)
        path.write_bytes(bad)
        try:
            store.read_parquet(path)  # a bit in the text of a definition may well go unseen
        except TraceError as error:
            assert "\n" not in str(error)


def test_what_is_no_trace_of_ours_is_refused(small: Trace, tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    Table({"capacity_blocks": [1, 2]}, {"trace": "x"}).write(path)  # ours, but not a trace
    with pytest.raises(TraceError, match="a table, but not a trace that hitcurve wrote"):
        store.read_parquet(path)
    assert not store.is_hitcurve_parquet(path)
    with pytest.raises(TraceError, match=r"missing\.parquet: no such file"):
        store.read_parquet(tmp_path / "missing.parquet")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"layout": 2}, "wanted layout 1, found 2"),
        ({"content": "facts"}, "not a trace that hitcurve wrote"),
        ({"n_blocks": 6}, "numbered in order of first appearance"),
        ({"n_blocks": "many"}, "not a whole Parquet file"),
        ({"definition": {}}, "not a whole Parquet file"),
    ],
)
def test_metadata_that_does_not_fit(
    small: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, object], reason: str
) -> None:
    honest = arrow.metadata(small)
    facts = {**json.loads(honest[arrow.KEY]), **change}
    monkeypatch.setattr(arrow, "metadata", lambda trace: {arrow.KEY: json.dumps(facts).encode()})
    store.write_parquet(small, tmp_path / "t.parquet")
    with pytest.raises(TraceError, match=reason):
        store.read_parquet(tmp_path / "t.parquet")


def test_columns_that_disagree(small: Trace, tmp_path: Path) -> None:
    from pyarrow import parquet

    table = small.to_arrow()
    path = tmp_path / "t.parquet"
    parquet.write_table(table.drop_columns(["span_length"]), path)
    with pytest.raises(TraceError, match="wanted a column span_length, found none"):
        store.read_parquet(path)
    parquet.write_table(table.slice(1), path)
    with pytest.raises(TraceError, match="numbered in order of first appearance"):
        store.read_parquet(path)


def test_a_name_that_is_no_unicode_cannot_be_written(small: Trace, tmp_path: Path) -> None:
    bad = replace(small, session=Labels.of(["\ud800"] * 4))
    with pytest.raises(OutputError, match="no valid Unicode"):
        store.write_parquet(bad, tmp_path / "t.parquet")
    assert list(tmp_path.iterdir()) == []
