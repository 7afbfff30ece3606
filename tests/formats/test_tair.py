"""Tair optimizer rows: streamed, read as a trace, and written."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, TraceError, UnsupportedTrace
from hitcurve.formats import read_trace, write_trace
from hitcurve.formats.tair import tair_rows
from hitcurve.lru import lru_facts
from hitcurve.trace import Labels, Trace
from tests.formats import hostile
from tests.naive import formats as naive
from tests.naive.prefix_hash import prefix_hash

ROW: dict[str, Any] = {"type": "get", "instance_id": "a", "timestamp_ns": 1000, "input_len": 13, "keys": [1, 2, 3]}
SIZE = 4


def put(folder: Path, *rows: dict[str, Any] | str, name: str = "t.jsonl") -> Path:
    (folder / name).write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return folder / name


def streamed(path: Path, size: int = SIZE) -> list[dict[str, Any]]:
    found = []
    for batch in tair_rows(path, block_size=size):
        assert batch.path == str(path)
        for i in range(len(batch)):
            found.append(
                {
                    "line": batch.lines[i],
                    "write": bool(batch.is_write[i]),
                    "instance": batch.instance_ids[i],
                    "trace": batch.trace_ids[i],
                    "time": batch.timestamp_ns[i],
                    "input": batch.input_len[i],
                    "keys": batch.keys[batch.ends[i] : batch.ends[i + 1]].tolist(),
                }
            )
    return found


def of_vector(request: dict[str, Any]) -> dict[str, Any]:
    row = {"type": request.get("type", "get"), "instance_id": "i", "keys": request["keys"]}
    row["timestamp_ns"] = request["timestamp"]
    return row | ({"input_len": request["len"]} if "len" in request else {})


def test_vectors(vectors, tmp_path):
    seen = set()
    for vector in vectors("litehit"):
        if vector["kind"] == "trace_loader":
            rows = [of_vector(request) for request in vector["requests"]]
            size = 16 if vector["name"] == "loader_uint64_keys" else 256
            found = streamed(put(tmp_path, *rows), size)
            assert len(found) == len(rows)
            for key, value in vector["expected"].items():
                assert {"rows": len(found), "keys": found[0]["keys"]}[key] == value
        elif vector["kind"] == "trace_loader_error":
            legacy = {"instance_id": "i", "timestamp_ns": 1, "keys": [1], "query_type": "prefix_match", "output_len": 3}
            path = put(tmp_path, legacy)
            for read in (streamed, read_trace):
                with pytest.raises(TraceError) as caught:
                    read(path)
                assert vector["expected"]["error_contains"] in str(caught.value)
                assert str(caught.value).startswith(f"{path}:1: ")
        else:
            continue
        seen.add(vector["name"])
    assert len(seen) == 4


words = st.one_of(st.integers(0, 40), st.integers(-(2**63), 2**64 - 1), st.sampled_from([2**63, 2**64 - 1, -(2**63)]))
odd = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.sampled_from(["", "a", 0, -1, 2**31, 2**63, 0.5]),
    st.lists(st.one_of(st.integers(0, 3), st.booleans(), st.text(max_size=1), st.none()), max_size=3),
)  # fmt: skip
FIELDS = ("type", "instance_id", "trace_id", "timestamp_ns", "input_len", "keys", "tokens", "query_type", "block_mask",
          "sw_size", "location_spec_names", "ttl_us", "other")  # fmt: skip


@st.composite
def events(draw):
    rows, now = [], draw(st.sampled_from([1, 2**53, 1_720_000_000_000_000_001]))
    for _ in range(draw(st.integers(0, 8))):
        now += draw(st.sampled_from([0, 0, 1, 2, 10**9, 10**9, -1]))
        keys = draw(st.lists(words, max_size=4))
        row = {"type": draw(st.sampled_from(["get", "request", "write"])), "instance_id": draw(st.sampled_from("ab"))}
        row |= {"timestamp_ns": now, "keys": keys, "input_len": max(1, len(keys) * SIZE + draw(st.integers(0, 3)))}
        if draw(st.booleans()):
            row["trace_id"] = draw(st.sampled_from(["", "x", None]))
        if draw(st.integers(0, 3)) == 0:
            row[draw(st.sampled_from(FIELDS))] = draw(odd)
        if draw(st.integers(0, 9)) == 0:
            row.pop(draw(st.sampled_from(list(row))))
        rows.append(row)
    return rows


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=events())
def test_rows_are_those_of_the_slow_reader(tmp_path, rows):
    path = put(tmp_path, *rows)
    if not rows:
        return
    try:
        expected = naive.tair(path.read_bytes(), SIZE)
    except naive.Bad as bad:
        with pytest.raises(TraceError) as caught:
            streamed(path)
        assert str(caught.value).startswith(f"{path}:{bad.line}: ") and "\n" not in str(caught.value)
        return
    assert streamed(path) == expected
    reads = [row for row in expected if not row["write"]]
    if not reads:
        with pytest.raises(TraceError, match="no usable row"):
            read_trace(path, format="tair", block_size=SIZE)
        return
    trace = read_trace(path, format="tair", block_size=SIZE)
    assert trace.arrival_ns.tolist() == [row["time"] for row in reads]
    assert trace.input_tokens.tolist() == [row["input"] for row in reads]
    assert [trace.tenant[i] for i in range(len(trace))] == [row["instance"] for row in reads]
    dense = naive.intern([(row["instance"], row["keys"]) for row in reads])
    assert [trace.blocks(i).tolist() for i in range(len(trace))] == dense


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32), mutations=st.integers(1, 4))
def test_damaged_bytes_are_refused_at_their_line(tmp_path, seed, mutations):
    random = Random(seed)
    rows = [{**ROW, "timestamp_ns": 10**18 + k, "keys": [2**64 - k, k, -k - 1], "trace_id": "é"} for k in range(4)]
    rows[2]["type"] = "write"
    data = "".join(json.dumps(row, ensure_ascii=random.random() < 0.5) + "\n" for row in rows).encode()
    path = tmp_path / "t.jsonl"
    path.write_bytes(hostile.mutated(data, random, mutations))
    try:
        expected = naive.tair(path.read_bytes(), SIZE)
    except naive.Bad as bad:
        with pytest.raises(TraceError) as caught:
            streamed(path)
        assert str(caught.value).startswith(f"{path}:{bad.line}: ")
    else:
        assert streamed(path) == expected


def changed(**fields: Any) -> dict[str, Any]:
    return {k: v for k, v in {**ROW, **fields}.items() if v is not ...}


BAD = {
    "type missing": (changed(type=...), "type: wanted get, request or write, found nothing"),
    "type unknown": (changed(type="put"), "type: wanted get, request or write, found 'put'"),
    "instance missing": (changed(instance_id=...), "instance_id: wanted a string that is not empty, found nothing"),
    "instance empty": (changed(instance_id=""), "instance_id: wanted a string that is not empty, found ''"),
    "instance a number": (changed(instance_id=7), "found 7"),
    "trace id a number": (changed(trace_id=7), "trace_id: wanted a string, found 7"),
    "time missing": (changed(timestamp_ns=..., timestamp_us=5), "timestamp_ns: wanted a whole number from 1 to 9223"),
    "time zero": (changed(timestamp_ns=0), "timestamp_ns: wanted a whole number from 1"),
    "time a float": (changed(timestamp_ns=2000.0), "timestamp_ns: wanted a whole number"),
    "time beyond int64": (changed(timestamp_ns=2**63), "timestamp_ns"),
    "a step back": (changed(timestamp_ns=999), "timestamp_ns: wanted >= 1000, the time before it, found 999"),
    "a write steps back": (changed(timestamp_ns=999, type="write"), "timestamp_ns: wanted >= 1000"),
    "length missing": (changed(input_len=...), "input_len: wanted a whole number from 1 to 4294967295, found nothing"),
    "length zero": (changed(input_len=0, keys=[]), "input_len"),
    "length a float": (changed(input_len=13.0), "input_len"),
    "keys missing": (changed(keys=...), "keys: wanted a list of block ids, found nothing"),
    "a key a string": (changed(keys=[1, "2", 3]), "keys: wanted whole numbers of 64 bits, found '2'"),
    "a key a float": (changed(keys=[1, 2.0, 3]), "found 2.0"),
    "a key a bool": (changed(keys=[1, True, 3]), "found True"),
    "a key of 65 bits": (changed(keys=[1, 2**64, 3]), "found 18446744073709551616"),
    "too few keys": (changed(keys=[1, 2]), "3, for input_len 13 at block size 4 (those from 5 to 6 fit), found 2"),
    "a key for a partial block": (changed(keys=[1, 2, 3, 4]), "number of keys: wanted 3"),
    "tokens no list": (changed(tokens="x"), "tokens: wanted a list of whole numbers"),
    "query type a list": (changed(query_type=[]), "query_type: wanted a string"),
    "mask negative": (changed(block_mask=-1), "block_mask: wanted a list of true and false, or a whole number >= 0"),
    "mask of numbers": (changed(block_mask=[1, 0]), "block_mask"),
    "sw_size of 33 bits": (changed(sw_size=2**31), "sw_size: wanted a whole number from -2147483648 to 2147483647"),
    "names of numbers": (changed(location_spec_names=[1]), "location_spec_names: wanted a list of strings"),
    "ttl below -1": (changed(ttl_us=-2), "ttl_us: wanted a whole number from -1"),
    "no object": ("[1]", "wanted a JSON object, found list"),
    "half a line": ('{"type": "get", ', "not JSON"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_rows(name, tmp_path):
    row, part = BAD[name]
    path = put(tmp_path, ROW, changed(type="write"), row, changed(timestamp_ns=5000))
    with pytest.raises(TraceError) as caught:
        streamed(path)
    assert part in str(caught.value) and str(caught.value).startswith(f"{path}:3: ")
    with pytest.raises(TraceError) as caught:
        read_trace(path, block_size=SIZE)
    assert str(caught.value).startswith(f"{path}:3: ")
    kept = read_trace(path, block_size=SIZE, skip_bad=True)
    assert (kept.n_requests, kept.definition.rows_dropped) == (2, 1)


def test_good_fields(tmp_path):
    rows = [
        changed(tokens=[1, 2], query_type="batch_get", block_mask=[True, False, True], sw_size=0, trace_id="r"),
        changed(type="request", block_mask=3, location_spec_names=["tp0"], ttl_us=-1, trace_id=None, keys=[4, 5, 6]),
        changed(type="write", input_len=-5, keys=[], ttl_us=0, anything={"keys": [1]}),
    ]
    found = streamed(put(tmp_path, *rows))
    assert [row["trace"] for row in found] == ["r", "trace_a_1000", "trace_a_1000"]
    trace = read_trace(put(tmp_path, *rows), block_size=SIZE)
    assert trace.n_requests == 2 and trace.request_id.names == ("r",)
    assert trace.definition.notes == ("write rows left out: a read stands for its blocks being written back",)


def test_block_sizes(tmp_path):
    path = put(tmp_path, ROW, changed(keys=[1, 2, 3, 4], input_len=16))
    trace = read_trace(path)
    assert trace.definition.block_size == 4 and "block size 4 inferred" in trace.definition.notes[0]
    with pytest.raises(TraceError, match=r":1: keys: 3 ids for 13 tokens .* wanted 1 ids at block size 8"):
        read_trace(path, block_size=8)
    assert read_trace(put(tmp_path, changed(input_len=800))).definition.block_size == 256
    with pytest.raises(
        TraceError, match=r"wanted 0, for input_len 13 at block size 256 \(those from 4 to 4 fit\), found 3"
    ):
        list(tair_rows(put(tmp_path, ROW)))
    with pytest.raises(BadParameter):
        list(tair_rows(path, block_size=0))


def test_rows_out_of_order_are_sorted_when_asked(tmp_path):
    path = put(tmp_path, changed(timestamp_ns=2000), changed(timestamp_ns=1000, keys=[1, 2, 4]))
    trace = read_trace(path, block_size=SIZE, sort=True)
    assert trace.arrival_ns.tolist() == [1000, 2000] and trace.definition.rows_sorted == 1


def test_instances_share_nothing(tmp_path):
    trace = read_trace(put(tmp_path, ROW, changed(instance_id="b"), ROW), block_size=SIZE)
    assert lru_facts(trace).hits_per_request().tolist() == [0, 0, 3]
    assert trace.tenant.names == ("a", "b")


def test_files_of_many_batches(tmp_path):
    rows = [changed(timestamp_ns=1_720_000_000_000_000_000 + i, keys=[2**64 - i, 7, i]) for i in range(1, 40_000)]
    path = put(tmp_path, *rows, name="t.jsonl")
    batches = list(tair_rows(path, block_size=SIZE))
    assert len(batches) > 2 and sum(map(len, batches)) == len(rows)
    keys = np.concatenate([batch.keys for batch in batches]).reshape(-1, 3)  # batches stay what they were
    assert keys[:, 0].tolist() == [-i for i in range(1, 40_000)] and keys[:, 2].tolist() == list(range(1, 40_000))
    seen: list[tuple[int, int, int | None]] = []
    list(tair_rows(path, block_size=SIZE, progress=lambda *at: seen.append(at)))
    assert seen[-1] == (len(rows), path.stat().st_size, path.stat().st_size)


def written(trace: Trace, folder: Path, **options: Any) -> list[dict[str, Any]]:
    write_trace(trace, folder / "w.jsonl", format="tair", **options)
    return [json.loads(line) for line in (folder / "w.jsonl").read_text().splitlines()]


def test_content_ids_are_chained_as_litehit_does(tmp_path):
    trace = Trace.of_requests([[7, 8, 2**64 - 1], [7, -9]], block_size=SIZE).with_definition(id_kind="block")
    rows = written(trace, tmp_path)
    assert [row["keys"] for row in rows] == [prefix_hash([7, 8, 2**64 - 1]), prefix_hash([7, -9])]
    assert [row["input_len"] for row in rows] == [12, 8]
    assert [row["timestamp_ns"] for row in rows] == [1, 1_000_000_001]


def test_path_ids_are_written_as_they_are(tmp_path):
    trace = Trace.of_requests([[7, 8, 2**64 - 1], [7, 8, -9]], block_size=SIZE)
    assert [row["keys"] for row in written(trace, tmp_path)] == [[7, 8, -1], [7, 8, -9]]
    assert list(written(trace, tmp_path, type="get", instance_id="x")[0]) == [
        "type", "instance_id", "timestamp_ns", "input_len", "keys"
    ]  # fmt: skip
    lying = Trace.of_requests([[7, 8], [9, 8]], block_size=SIZE)  # 8 stands on two paths
    assert [row["keys"] for row in written(lying, tmp_path)] == [prefix_hash([7, 8]), prefix_hash([9, 8])]


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    requests=st.lists(
        st.lists(st.one_of(words, st.sampled_from(["a", "1", "é", 2**70]), st.integers(0, 3)), min_size=1, max_size=5),
        min_size=1, max_size=7,
    ),
    kind=st.sampled_from(["prefix", "block"]),
    tenants=st.booleans(),
    data=st.data(),
)  # fmt: skip
def test_there_and_back(tmp_path, requests, kind, tenants, data):
    n = len(requests)
    times = np.cumsum(data.draw(st.lists(st.sampled_from([0, 1, 10**18]), min_size=n, max_size=n)))
    rows = [{"ids": ids, "arrival_ns": int(t), "block_size": SIZE, "input_tokens": len(ids) * SIZE + data.draw(
        st.integers(0, SIZE - 1))} for ids, t in zip(requests, times, strict=True)]  # fmt: skip
    if tenants:
        for row in rows:
            row["tenant"] = data.draw(st.sampled_from(["a", "b", None]))
            row["request_id"] = data.draw(st.sampled_from(["r", None]))
    trace = read_trace(put(tmp_path, *rows), id_kind=kind)
    write_trace(trace, tmp_path / "w.jsonl.zst", format="tair")
    back = read_trace(tmp_path / "w.jsonl.zst", block_size=SIZE)
    assert back.definition.format == "tair"
    assert (back.arrival_ns - back.arrival_ns[0]).tolist() == (trace.arrival_ns - trace.arrival_ns[0]).tolist()
    for column in ("span_offsets", "span_first", "span_length", "input_tokens"):
        assert getattr(back, column).tolist() == getattr(trace, column).tolist()
    names = [None if trace.tenant is None else trace.tenant[i] for i in range(n)]
    assert [back.tenant[i] for i in range(n)] == [name or "instance" for name in names]


def test_what_cannot_be_written(tmp_path):
    def refused(trace: Trace, part: str, error: Any = UnsupportedTrace, **options: Any) -> None:
        with pytest.raises(error, match=part):
            written(trace, tmp_path, **options)

    refused(Trace.of_requests([[1]]), "block size")
    refused(Trace.of_requests([[1, 2]], block_size=4, input_tokens=np.array([5])), "--tail drop")
    refused(Trace.of_requests([[1, 2]], block_size=4, input_tokens=np.array([12])), "request 1 has 2 blocks for 12")
    refused(Trace.of_requests([[1], []], block_size=4), "request 2 has 0 blocks, and no tokens")
    shared = Trace.of_requests([[1], [1]], block_size=4, tenant=Labels.of(["a", "b"]))
    refused(shared, "tenants share blocks")
    refused(Trace.of_requests([[1]], block_size=4), "type: wanted", BadParameter, type="write")
    some = Trace.of_requests([[1], [2]], block_size=4, tenant=Labels.of(["a", None]))
    refused(some, "'a' is a tenant already", BadParameter, instance_id="a")
    assert [row["instance_id"] for row in written(some, tmp_path, instance_id="rest")] == ["a", "rest"]


def test_a_trace_without_tails_is_the_same_curve(shared, tmp_path):
    trace = read_trace(shared / "data" / "mooncake_conversation.jsonl.gz", head=1500, tail="drop")
    write_trace(trace, tmp_path / "t.jsonl", format="tair")
    back = read_trace(tmp_path / "t.jsonl", block_size=512)
    curves = [lru_facts(t).curve() for t in (trace, back)]
    for column in ("capacity_blocks", "hit_blocks", "hit_tokens"):
        assert list(curves[0][column]) == list(curves[1][column])
