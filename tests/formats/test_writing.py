"""A trace converted there and back is the same trace, whatever the way."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitcurve.errors import OutputError, UnknownName, UnsupportedTrace
from hitcurve.formats import read_trace, write_trace
from hitcurve.trace import Labels, RawIds, Trace

SIZE = 16
raw_ids = st.one_of(st.integers(0, 9), st.integers(-(2**70), 2**70), st.sampled_from(["a", "1", "é", "\ud800", '"', 1]))


@st.composite
def traces(draw):
    requests = draw(st.lists(st.lists(raw_ids, max_size=6), min_size=1, max_size=8))
    n = len(requests)
    gaps = draw(st.lists(st.integers(0, 10**12), min_size=n, max_size=n))
    times = np.cumsum([gap - gap % draw(st.sampled_from([1, 1000, 10**6, 10**9])) for gap in gaps])
    tokens = [len(ids) * SIZE - draw(st.integers(0, SIZE - 1)) if ids else draw(st.integers(0, 15)) for ids in requests]
    sessions = draw(st.lists(st.sampled_from(["s", "t", None]), min_size=n, max_size=n))
    turns = draw(st.lists(st.integers(-1, 5), min_size=n, max_size=n))
    trace = Trace.of_requests(
        requests, block_size=SIZE, input_tokens=np.array(tokens), session=Labels.of(sessions), turn=np.array(turns)
    )
    return replace(trace, arrival_ns=times)


def same_curve(one: Trace, other: Trace) -> None:
    """Equal in all that an LRU curve is made of."""
    assert one.arrival_ns.tolist() == other.arrival_ns.tolist()
    assert one.input_tokens.tolist() == other.input_tokens.tolist()
    for column in ("span_offsets", "span_first", "span_length"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()
    assert (one.n_blocks, one.definition.block_size) == (other.n_blocks, other.definition.block_size)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    trace=traces(),
    format=st.sampled_from(["mooncake", "jsonl", "bailian", "parquet"]),
    ending=st.sampled_from(["", ".gz", ".zst"]),
)
def test_there_and_back(tmp_path, trace, format, ending):
    path = tmp_path / f"{format}.any{ending if format != 'parquet' else ''}"
    write_trace(trace, path, format=format)
    back = read_trace(path, block_size=SIZE)
    same_curve(trace, back)
    assert back.definition.format == (format if format != "parquet" else "memory")
    if format != "bailian":
        pairs = [(trace.raw_ids[k], back.raw_ids[k]) for k in range(trace.n_blocks)]
        assert all(a == b and type(a) is type(b) for a, b in pairs)
        for i in range(trace.n_requests):
            assert (trace.session and trace.session[i]) == (back.session and back.session[i])
        assert trace.turn.tolist() == (back.turn if back.turn is not None else np.full(len(trace), -1)).tolist()


@pytest.mark.parametrize("format", ["mooncake", "jsonl", "bailian", "parquet"])
def test_a_real_trace(shared, tmp_path, format):
    trace = read_trace(shared / "data" / "mooncake_conversation.jsonl.gz", head=2000)
    write_trace(trace, tmp_path / "t.zst", format=format)
    same_curve(trace, read_trace(tmp_path / "t.zst", block_size=512))


def test_namespaces_become_ids_that_never_meet(tmp_path):
    rows = [{"ids": [1, 2], "tenant": "a"}, {"ids": [1, 2], "tenant": "b"}, {"ids": [1, 2, 3], "tenant": "a"}]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    trace = read_trace(tmp_path / "t.jsonl")
    write_trace(trace, tmp_path / "m.jsonl", format="jsonl")
    back = read_trace(tmp_path / "m.jsonl")
    assert [back.blocks(i).tolist() for i in range(3)] == [[0, 1], [2, 3], [0, 1, 4]]
    write_trace(trace, tmp_path / "m.jsonl")
    written = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text().splitlines()]
    assert [row["hash_ids"] for row in written] == [[0, 1], [2, 3], [0, 1, 4]]
    assert "timestamp" not in written[0]


def test_bytes_have_no_json(tmp_path):
    trace = Trace.of_requests([[b"a", b"b"]])
    assert isinstance(trace.raw_ids, RawIds)
    write_trace(trace, tmp_path / "t.jsonl")
    assert json.loads((tmp_path / "t.jsonl").read_text())["hash_ids"] == [0, 1]


def test_standard_output(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    write_trace(Trace.of_requests([[1]], block_size=512), "-", format="mooncake")
    assert json.loads(out.buffer.getvalue()) == {"timestamp": 0, "hash_ids": [1]}


def test_refusals(tmp_path):
    trace = Trace.of_requests([[1]])
    with pytest.raises(UnsupportedTrace, match="weka can be read, but not written"):
        write_trace(trace, tmp_path / "t", format="weka")
    with pytest.raises(OutputError, match="the ending tells no format"):
        write_trace(trace, tmp_path / "t.txt")
    with pytest.raises(UnknownName):
        write_trace(trace, tmp_path / "t.txt", format="nothing")
    with pytest.raises(OutputError, match="No such file"):
        write_trace(trace, tmp_path / "absent" / "t.jsonl")


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    import hitcurve.publish as publish

    monkeypatch.setattr(publish.os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    (tmp_path / "t.jsonl").write_text("old")
    with pytest.raises(OutputError, match="No space left"):
        write_trace(Trace.of_requests([[1]]), tmp_path / "t.jsonl")
    assert [p.name for p in tmp_path.iterdir()] == ["t.jsonl"] and (tmp_path / "t.jsonl").read_text() == "old"
