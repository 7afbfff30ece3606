"""The query: what the slow twin finds, as the reference spells it, of both layouts of facts."""

from __future__ import annotations

import io
import json
import tracemalloc
from fractions import Fraction

import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hitcurve
from hitcurve.errors import BadParameter, OutputError, TraceError
from hitcurve.offline import facts_csv_reading, facts_parquet
from hitcurve.offline.capacities import Capacities, Slot
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.facts_csv import FactsCsv
from hitcurve.offline.facts_file import open_facts
from hitcurve.offline.facts_parquet import FactsParquet
from hitcurve.offline.query import Query
from hitcurve.offline.query_files import write_csv, write_parquet
from hitcurve.offline.query_lines import query_lines
from hitcurve.projection import INFINITE
from tests.naive import facts as naive
from tests.naive.hybrid import NaiveHybrid
from tests.naive.lru import naive_hits, naive_segments
from tests.offline.random_facts import fact_rows, in_columns


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("query")


def put(place, rows: FactRows):
    """Both layouts of the same facts."""
    with open(place / "facts.csv", "wb") as file:
        FactsCsv(file).put(rows)
    with open(place / "facts.parquet", "wb") as file, FactsParquet(file) as facts:
        facts.put(rows)
    return place / "facts.csv", place / "facts.parquet"


def asked(path, capacities, ttl_ns=None, **options) -> str:
    with open_facts(path) as facts:
        return b"".join(query_lines(Query(facts, capacities, ttl_ns), **options)).decode()


def slots(drawn) -> Capacities:
    names = [f"{n}" if unit == "blocks" else f"{n}B" for unit, n in (c or ("blocks", "inf") for c in drawn)]
    return Capacities(tuple(Slot(name, **dict([c] if c else [])) for name, c in zip(names, drawn, strict=True)))


some_capacities = st.lists(
    st.none() | st.tuples(st.sampled_from(["blocks", "bytes"]), st.integers(0, 60) | st.just(2**62)), max_size=5
)


@settings(max_examples=120, deadline=None)
@given(fact_rows(), some_capacities, st.none() | st.integers(1, 9), st.integers(1, 5))
def test_lines_are_those_of_the_slow_query(place, rows, capacities, ttl, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_parquet, "BATCH_ROWS", batch)
        patch.setattr(facts_csv_reading, "CHUNK", 100 * batch)
        csv, parquet = put(place, in_columns(rows))
        own = naive.query(rows, capacities, ("capacity", slots(capacities).names), "own")
        for path in (csv, parquet):
            text = asked(path, slots(capacities))
            assert [list(json.loads(line).items()) for line in text.splitlines()] == [list(x.items()) for x in own]
            summaries = [json.dumps(line, separators=(",", ":")) for line in own if "summary" in line]
            found = asked(path, slots(capacities), requests=False).splitlines()
            assert list(map(json.loads, found)) == list(map(json.loads, summaries))
        for limit in (ttl, None):
            other = naive.query(rows, capacities, ("capacity", slots(capacities).names), limit or 0)
            text = asked(parquet, slots(capacities), limit or INFINITE)
            assert list(map(json.loads, text.splitlines())) == other


@settings(max_examples=60, deadline=None)
@given(fact_rows(), st.lists(st.sampled_from([0.0, 0.5, 8.0, -1.0, -2.5, 1e-9, 3e-9, 1e-8, 2.0**40]), max_size=4))
def test_gigabytes_are_binary_and_negative_is_infinite(place, rows, values):
    csv, _ = put(place, in_columns(rows))
    capacities = [None if gb < 0 else ("bytes", int(Fraction(gb) * 2**30)) for gb in values]
    wanted = naive.query(rows, capacities, ("capacity_gb", values), "own")
    text = asked(csv, Capacities.of_gb(values))
    assert list(map(json.loads, text.splitlines())) == wanted


EXAMPLE = """\
trace_id,instance_id,timestamp_ns,input_token_len,block_size_tokens,block_bytes,hit_curve
1,i,1,13,4,1024,"[]"
2,i,2,12,4,1024,"[[1,2]]"
3,i,3,13,4,1024,"[[1,2],[4,1]]"
4,i,4,8,4,1024,"[[1,1]]"
5,i,5,8,4,1024,"[[1,2]]"
"""


def test_the_worked_example(place):
    requests, lengths = ["ABC", "ABD", "ABC", "AE", "AE"], [13, 12, 13, 8, 8]
    segments = naive_segments(requests, range(1, 6))
    rows = [
        naive.Row(str(k + 1), "i", k + 1, length, 4, 1024, False, pairs)
        for k, (length, pairs) in enumerate(zip(lengths, segments, strict=True))
    ]
    csv, parquet = put(place, in_columns(rows))
    assert csv.read_text() == EXAMPLE
    gb = [2048 / 2**30, 3072 / 2**30, -1]
    for path in (csv, parquet):
        lines = asked(path, Capacities.of_gb(gb)).splitlines()
        assert [json.loads(line)["hit_blocks"] for line in lines[:5]] == [[0] * 3, [2] * 3, [2, 2, 3], [1] * 3, [2] * 3]
        assert lines[2] == (
            '{"trace_id":"3","instance_id":"i","timestamp_ns":3,"input_token_len":13,"hit_blocks":[2,2,3],'
            '"hit_rates":[0.6153846153846154,0.6153846153846154,0.9230769230769231]}'
        )
        for line, begin in zip(lines[5:], ['{"summary":true,"instance_id":"i",', '{"summary":true,'], strict=True):
            assert line == (
                f'{begin}"requests":5,"total_input_tokens":54,"capacity_gb":[{gb[0]!r},{gb[1]!r},-1],'
                '"total_hit_blocks":[7,7,8],"total_hit_tokens":[28,28,32],'
                f'"hit_rates":[{28 / 54},{28 / 54},{32 / 54}]}}'
            ).replace("e-06", "e-6")
        six = asked(path, Capacities.of_gb([*gb, 0.5, 1e7, 123456789]), six_digits=True).splitlines()
        assert six[2].endswith('"hit_rates":[0.615385,0.615385,0.923077,0.923077,0.923077,0.923077]}')
        assert six[0].endswith('"hit_rates":[0,0,0,0,0,0]}') and six[4].endswith('"hit_rates":[1,1,1,1,1,1]}')
        assert '"capacity_gb":[1.90735e-06,2.86102e-06,-1,0.5,1e+07,1.23457e+08]' in six[5]
        assert '"hit_rates":[0.518519,0.518519,0.592593,' in six[6]
    # committed first block first, the two blocks of room hold the ends of paths, and nothing hits
    assert sum(naive_hits(requests, capacity=2)) == 7
    assert sum(naive_hits(requests, capacity=2, tail_first=False)) == 2


def vector(vectors, name):
    return next(v for v in vectors("litehit") if v["name"] == name)


def rows_of_vector(requests, block_size, instance_id="i", every=1):
    keys = [r["keys"][every - 1 :: every] for r in requests]
    curves = naive_segments(keys, [r["timestamp"] for r in requests])
    return [
        naive.Row(r.get("trace_id", "t"), instance_id, r["timestamp"], r["len"], block_size, 16384, False, curve)
        for r, curve in zip(requests, curves, strict=True)
    ]


def test_two_granularities_as_the_vector_says(vectors, place):
    case = vector(vectors, "offline_fanout_two_granularities")
    each = [
        rows_of_vector(case["requests"], one["block_size"], one["instance_id"], one["block_size"] // 4)
        for one in case["instances"]
    ]
    rows = [row for pair in zip(*each, strict=True) for row in pair]
    expected = case["expected"]
    for path in put(place, in_columns(rows)):
        lines = [json.loads(line) for line in asked(path, Capacities((Slot.of_blocks(None),))).splitlines()]
        assert len(lines) == expected["query_lines"] and len(rows) == expected["rows"]
        summaries = [line for line in lines if "summary" in line]
        assert [line.get("instance_id", "overall") for line in summaries] == expected["summary_order"]
        assert summaries[-1]["requests"] == expected["overall_requests"]
        assert [line["total_hit_blocks"] for line in summaries] == [[3], [1], [4]]


def test_many_rows_as_the_vector_says(vectors, place):
    expected = vector(vectors, "offline_parallel_equals_serial")["expected"]
    requests = [
        {"keys": [i % 13 * 100 + k for k in (1, 2, 3)], "len": 13, "timestamp": 1000 + i, "trace_id": f"t{i}"}
        for i in range(expected["rows"])
    ]
    totals = expected["derived_total_hit_blocks_by_capacity"]
    capacities = Capacities(tuple(Slot.of_blocks(None if name == "inf" else int(name)) for name in totals))
    for path in put(place, in_columns(rows_of_vector(requests, 4))):
        line = json.loads(asked(path, capacities, requests=False).splitlines()[-1])
        assert dict(zip(line["capacity"], line["total_hit_blocks"], strict=True)) == totals


def test_points_of_hybrid_models_as_the_vectors_say(litehit, place):
    cases = litehit("linear_bytes")
    for case in cases:
        points = case["expected"]["byte_points"]
        rows = [
            naive.Row("t", "h", 1, 1000, 4, case["full_charge"], True, [(a, b, 0) for a, b in pairs])
            for pairs in points
        ]
        for path in put(place, in_columns(rows)):
            for wanted in case["expected"].get("projections", []):
                text = asked(path, Capacities((Slot("x", bytes=wanted["capacity_bytes"]),)))
                assert json.loads(text.splitlines()[wanted["request"]])["hit_blocks"] == [wanted["hits"]]
    case = next(c for c in cases if c["name"] == "linear_offline_hybrid_16384_4096")
    model = NaiveHybrid(case["full_charge"], case["linear_charge"], case["step_blocks"])
    facts = [model.process(r["keys"], r["timestamp"]) for r in case["requests"]]
    rows = [naive.Row("t", "h", 1, 17, 4, 16384, True, [tuple(p) for p in pairs]) for pairs in facts]
    for path in put(place, in_columns(rows)):
        line = json.loads(asked(path, Capacities((Slot("x", bytes=53248), Slot.of_blocks(None)))).splitlines()[-1])
        assert (line["total_hit_blocks"], line["total_input_tokens"]) == ([3, 4], 34)


def test_a_time_to_live_is_asked_of_facts_with_ages_only(place):
    csv, parquet = put(place, in_columns([naive.Row("t", "i", 1, 9, 4, 1, False, [(1, 1, 3), (2, 1, 5)], 4)]))
    one = Capacities((Slot.of_blocks(None),))
    assert [json.loads(asked(parquet, one, ttl).splitlines()[0])["hit_blocks"] for ttl in (None, 3, 5, INFINITE)] == [
        [1], [0], [1], [2]
    ]  # fmt: skip
    with pytest.raises(BadParameter, match=r"facts.csv: a time to live needs the ages"):
        asked(csv, one, 5)


def test_facts_without_rows(place):
    for path in put(place, in_columns([])):
        assert asked(path, Capacities.of_gb([0.5, -1])) == (
            '{"summary":true,"requests":0,"total_input_tokens":0,"capacity_gb":[0.5,-1],"total_hit_blocks":[0,0],'
            '"total_hit_tokens":[0,0],"hit_rates":[0.0,0.0]}\n'
        )
        assert list(hitcurve.query_facts(path, [7]).rows()) == [
            {"instance_id": None, "capacity": "7", "requests": 0, "total_input_tokens": 0, "total_hit_blocks": 0,
             "total_hit_tokens": 0, "hit_rate": 0.0}
        ]  # fmt: skip


def test_sums_of_any_size_are_exact(place):
    most, tokens = 2**63 - 1, 2**40
    row = naive.Row("t", "i", most, most, tokens, 2**62, True, [(1, 2**62, 0), (most, most, 0)])
    csv, parquet = put(place, in_columns([row] * 3))
    capacities = slots([None, ("bytes", 2**62)])
    for path in (csv, parquet):
        one, *_, total = [json.loads(line) for line in asked(path, capacities).splitlines()]
        assert one["hit_blocks"] == [most, 2**62]
        assert one["hit_rates"] == [most * tokens / most, 2**62 * tokens / most]
        assert total["total_input_tokens"] == 3 * most
        assert total["total_hit_blocks"] == [3 * most, 3 * 2**62]
        assert total["total_hit_tokens"] == [3 * most * tokens, 3 * 2**62 * tokens]
        assert total["hit_rates"] == [float(tokens), 2**62 * tokens / most]
        with open_facts(path) as facts, pytest.raises(OutputError, match="--format jsonl has room"):
            write_csv(Query(facts, capacities), io.BytesIO(), requests=False)


@settings(max_examples=30, deadline=None)
@given(fact_rows(), st.booleans())
def test_tables_say_the_same_as_lines(place, rows, in_gb):
    capacities = Capacities.of_gb([0, 2e-8, -1]) if in_gb else slots([("blocks", 3), None, ("blocks", 3)])
    _, parquet = put(place, in_columns(rows))
    lines = [json.loads(line) for line in asked(parquet, capacities).splitlines()]
    field, names = capacities.field, [float(n) if in_gb else n for n in capacities.names]
    requests = [
        {**{k: line[k] for k in ("trace_id", "instance_id", "timestamp_ns", "input_token_len")},
         field: name, "hit_blocks": blocks, "hit_rate": rate}
        for line in lines if "summary" not in line
        for name, blocks, rate in zip(names, line["hit_blocks"], line["hit_rates"], strict=True)
    ]  # fmt: skip
    sums = [
        {"instance_id": line.get("instance_id"), field: name, "requests": line["requests"],
         "total_input_tokens": line["total_input_tokens"], "total_hit_blocks": blocks, "total_hit_tokens": tokens,
         "hit_rate": rate}
        for line in lines if "summary" in line
        for name, blocks, tokens, rate in
        zip(names, line["total_hit_blocks"], line["total_hit_tokens"], line["hit_rates"], strict=True)
    ]  # fmt: skip
    for one_a_request, wanted in ((True, requests), (False, sums)):
        as_csv, as_parquet = io.BytesIO(), io.BytesIO()
        for write, file in ((write_csv, as_csv), (write_parquet, as_parquet)):
            with open_facts(parquet) as facts:
                write(Query(facts, capacities), file, one_a_request)
            file.seek(0)
        table = pyarrow.parquet.read_table(as_parquet)
        assert table.to_pylist() == wanted
        told = json.loads(pyarrow.parquet.read_metadata(as_parquet).metadata[b"hitcurve"])
        assert told["facts"] == str(parquet) and told["facts_provenance"]["content"] == "facts"
        if wanted:
            options = pyarrow.csv.ConvertOptions(
                column_types=table.schema, strings_can_be_null=True, null_values=[""], quoted_strings_can_be_null=False
            )
            read = pyarrow.csv.read_csv(
                as_csv, convert_options=options, parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)
            )
            assert read.to_pylist() == wanted


def test_the_function(place):
    (place / "example.csv").write_text(EXAMPLE)
    table = hitcurve.query_facts(place / "example.csv", [2, 0, None, Slot("3KiB", bytes=3072)])
    assert table["total_hit_blocks"] == [7, 0, 8, 7] * 2 and table["capacity"] == ["2", "0", "inf", "3KiB"] * 2
    assert table["instance_id"] == ["i"] * 4 + [None] * 4
    gb = hitcurve.query_facts(str(place / "example.csv"), capacities_gb=[2048 / 2**30, -1])
    assert gb["total_hit_tokens"] == [28, 32] * 2 and gb["hit_rate"] == [28 / 54, 32 / 54] * 2
    _, parquet = put(place, in_columns([naive.Row("t", "i", 1, 9, 4, 1, False, [(1, 1, 3 * 10**9)], 10**9)]))
    assert [hitcurve.query_facts(parquet, [1], ttl=t)["total_hit_blocks"][0] for t in ("own", 4, 3, None)] == [
        0,
        1,
        0,
        1,
    ]
    for wrong, says in [({}, "one of them"), ({"capacities": [1], "capacities_gb": [1]}, "one of them"),
                        ({"capacities": [-1]}, "capacity: "), ({"capacities": ["many"]}, "capacity: "),
                        ({"capacities_gb": [float("nan")]}, "capacity_gb: "),
                        ({"capacities": [1], "ttl": -1}, "ttl: ")]:  # fmt: skip
        with pytest.raises(BadParameter, match=says):
            hitcurve.query_facts(parquet, **wrong)


def test_a_folder_of_facts(tmp_path):
    with pytest.raises(TraceError, match="no facts in this folder: wanted"):
        hitcurve.query_facts(tmp_path, [1])
    csv, parquet = put(tmp_path, in_columns([naive.Row("t", "i", 1, 9, 4, 1, False, [(1, 1, 3)], 3)]))
    csv.rename(tmp_path / "litehit_facts.csv")
    with pytest.raises(BadParameter, match="needs the ages"):
        hitcurve.query_facts(tmp_path, [1], ttl=None)
    parquet.rename(tmp_path / "litehit_facts.parquet")
    assert hitcurve.query_facts(tmp_path, [1], ttl=None)["total_hit_blocks"] == [1, 1]


@pytest.mark.parametrize("layout", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_facts(place, layout):
    def peak(n: int) -> int:
        one = np.ones(n, np.int64)
        rows = FactRows(
            [f"t{k}" for k in range(n)], ["i"] * n, one, one, one, one, one < 0, np.arange(n + 1), one, one, one, one
        )
        path = put(place, rows)[layout == "parquet"]
        hitcurve.query_facts(path, [1, None])
        tracemalloc.start()
        try:
            hitcurve.query_facts(path, [1, None])
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(facts_csv_reading, "CHUNK", 1 << 15)
        patch.setattr(facts_parquet, "BATCH_ROWS", 500)
        patch.setattr(facts_parquet, "GROUP", 2000)
        assert peak(30_000) < 1.2 * peak(3_000)
