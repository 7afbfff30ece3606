"""Whole traces against the slow readers: same rows, same blocks, same first bad line."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, TraceError, UnknownName
from hitcurve.formats import FORMATS, format_named, read_trace
from hitcurve.formats.blocks import chosen, fit, ranges
from tests.formats import hostile
from tests.formats.tokenizer import tiny_tokenizer
from tests.naive import formats as naive

QUICK = settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def lines(*rows) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def put(folder: Path, data: bytes, name: str = "trace.jsonl") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def blocks(trace) -> list[list[int]]:
    return [trace.blocks(i).tolist() for i in range(trace.n_requests)]


mooncake_rows = st.lists(
    st.tuples(
        st.integers(0, 3), st.floats(0, 5), st.integers(0, 40), st.integers(0, 3), st.sampled_from([0, 3, 10**6, "a"])
    ),
    min_size=1,
    max_size=12,
)


@QUICK
@given(rows=mooncake_rows, seed=st.integers(0, 2**32), mutations=st.sampled_from([0, 0, 1, 3]))
def test_mooncake(tmp_path, rows, seed, mutations):
    random = Random(seed)
    time, data = 0.0, b""
    for step, part, tokens, branch, base in rows:
        time = time + step if random.random() < 0.5 else round(time + step + part, 4)
        n = -(-tokens // 4) if random.random() < 0.5 else tokens // 4
        ids = [base if k == branch else k for k in range(n)]
        row = {"timestamp": time, "input_length": tokens, "output_length": 3, "hash_ids": ids}
        if random.random() < 0.3:
            row["session_id"] = random.choice(["a", "b", 3])
        data += hostile.spelled(row, random).encode() + b"\n"
    data = hostile.mutated(data, random, mutations)
    path = put(tmp_path, data)
    sizes: list[int] = []
    try:
        wanted = naive.mooncake(data)
        if not wanted or any("block_size" in str(row) for row in wanted):
            return
        bad_sizes = [k for k, row in enumerate(wanted) if not naive.fits(row["input"], len(row["ids"]), 4)]
        sizes = bad_sizes
    except naive.Bad as bad:
        with pytest.raises(TraceError) as caught:
            read_trace(path, format="mooncake", block_size=4)
        assert caught.value.line == bad.line
        return
    if sizes:
        with pytest.raises(TraceError, match="block size 4"):
            read_trace(path, format="mooncake", block_size=4)
        return
    trace = read_trace(path, format="mooncake", block_size=4)
    assert trace.arrival_ns.tolist() == [row["time"] for row in wanted]
    assert trace.input_tokens.tolist() == [row["input"] for row in wanted]
    output = [row["output"] for row in wanted]
    assert (trace.output_tokens.tolist() if trace.output_tokens is not None else [-1] * len(output)) == output
    sessions = [row["session"] for row in wanted]
    assert ([trace.session[i] for i in range(len(wanted))] if trace.session else [None] * len(wanted)) == sessions
    assert blocks(trace) == naive.intern([(None, row["ids"]) for row in wanted])
    assert trace.n_blocks == len({b for request in blocks(trace) for b in request})


@st.composite
def conversations(draw, name="c", depth=0):
    t, requests = 0.0, []
    for _ in range(draw(st.integers(0, 4))):
        t = round(t + draw(st.floats(0, 9)), 3)
        if depth < 2 and draw(st.integers(0, 3)) == 0:
            inner = draw(conversations(depth=depth + 1))
            agent = f"agent_{len(requests)}"
            requests.append({"t": t, "type": "subagent", "agent_id": agent, "requests": inner["requests"]})
        else:
            n = draw(st.integers(0, 6))
            ids = [k if k < draw(st.integers(0, 6)) else k + 100 * draw(st.integers(0, 2)) for k in range(n)]
            requests.append({"t": t, "type": "n", "in": n * 8 + draw(st.integers(0, 7)), "out": 1, "hash_ids": ids})
    return {"id": name, "block_size": 8, "hash_id_scope": "local", "requests": requests}


@QUICK
@given(first=conversations("x"), second=conversations("y"), shape=st.sampled_from(["lines", "files", "indented"]))
def test_weka(tmp_path, first, second, shape):
    rows = [(name, row) for name, c in (("x", first), ("y", second)) for row in naive.weka(c)]
    rows.sort(key=lambda row: row[1]["time"])
    for old in tmp_path.iterdir():
        old.unlink()
    if shape == "lines":
        source: Path = put(tmp_path, lines(first, second))
    else:
        indent = 1 if shape == "indented" else None
        put(tmp_path, json.dumps(first, indent=indent).encode(), "1.json")
        put(tmp_path, json.dumps(second, indent=indent).encode(), "2.json")
        source = tmp_path
    if not rows:
        with pytest.raises(TraceError, match="no usable row"):
            read_trace(source, format="weka")
        return
    trace = read_trace(source)
    assert trace.definition.format == "weka"
    assert blocks(trace) == naive.intern([(name, row["ids"]) for name, row in rows])
    assert trace.arrival_ns.tolist() == [row["time"] for _, row in rows]
    assert trace.input_tokens.tolist() == [row["input"] for _, row in rows]
    assert [trace.session[i] for i in range(len(rows))] == [row["session"] for _, row in rows]
    parents = [row["parent"] for _, row in rows]
    assert (
        [trace.parent_session[i] for i in range(len(rows))] if trace.parent_session else [None] * len(rows)
    ) == parents
    assert trace.turn.tolist() == [row["turn"] for _, row in rows]
    assert read_trace(source, sort=True).definition.rows_sorted == 0
    merged = read_trace(source, id_scope="global")
    assert blocks(merged) == naive.intern([(None, row["ids"]) for _, row in rows])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 20)), min_size=1, max_size=5))
def test_fitting_block_sizes(rows):
    tokens, counts = (np.array(column) for column in zip(*rows, strict=True))
    low, high = ranges(tokens, counts)
    for k, row in enumerate(rows):
        assert [size for size in range(1, 400) if low[k] <= size <= high[k]] == naive.fitting_sizes([row], 399)
    sizes = naive.fitting_sizes(rows, 399)
    found = fit(tokens, counts, None, None)
    if sizes:
        assert (found.low, min(found.high, 399)) == (sizes[0], sizes[-1])
        assert not found.misfits.any()
    else:
        most = max(sum(naive.fits(t, n, size) for t, n in rows) for size in range(1, 400))
        assert (~found.misfits).sum() == most
    assert chosen(100, 200, 150) == 150 and chosen(100, 200, None) == 128 and chosen(100, 300, None) is None


A = {"timestamp": 0, "input_length": 100, "output_length": 7, "hash_ids": [1, 2, 3, 4]}
B = {"timestamp": 5.5, "input_length": 130, "output_length": 9, "hash_ids": [1, 2, 3, 4, 5]}


def test_definition_and_notes(tmp_path):
    trace = read_trace(put(tmp_path, lines(A, B)))
    d = trace.definition
    assert (d.block_size, d.tail_rule, d.time_unit, d.format, d.id_kind, d.id_scope) == (
        32, "ceil", "ms", "mooncake", "prefix", "global",
    )  # fmt: skip
    assert d.notes == ("block size 32 inferred from lengths and id counts: the only power of two in 22 to 32",)
    assert trace.arrival_ns.tolist() == [0, 5_500_000]
    assert read_trace(put(tmp_path, lines(A)), time_unit="us").definition.time_unit == "us"
    floor = read_trace(put(tmp_path, lines({**A, "input_length": 140}, B)), block_size=32)
    assert floor.definition.tail_rule == "mixed"


def test_a_size_that_cannot_be_told_is_none(tmp_path):
    trace = read_trace(put(tmp_path, lines({**A, "hash_ids": [1], "input_length": 1300})))
    assert trace.definition.block_size is None
    assert "651 or more" in trace.definition.notes[0]


def test_wrong_block_size(tmp_path):
    with pytest.raises(TraceError) as caught:
        read_trace(put(tmp_path, lines(A, B)), block_size=16)
    assert caught.value.line == 1
    for part in ("4 ids for 100 tokens", "21 to 33", "6 or 7 ids", "--block-size 32"):
        assert part in str(caught.value), str(caught.value)


def test_contradicting_rows(tmp_path):
    path = put(tmp_path, lines(A, B, {**B, "hash_ids": [1]}, B, B))
    with pytest.raises(TraceError) as caught:
        read_trace(path)
    assert caught.value.line == 3 and "66 or more" in str(caught.value) and "22 to 32" in str(caught.value)
    kept = read_trace(path, skip_bad=True)
    assert kept.n_requests == 4 and kept.definition.rows_dropped == 1
    assert ":3: hash_ids" in kept.definition.notes[-1]
    assert kept.n_blocks == 5


def test_drop_tail(tmp_path):
    rows = [A, {**B, "hash_ids": [1, 2, 3, 4, 5]}, {**A, "timestamp": 9, "input_length": 128, "hash_ids": [1, 2, 3, 4]}]
    trace = read_trace(put(tmp_path, lines(*rows)), tail="drop", block_size=32)
    assert blocks(trace) == [[0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3]]
    assert trace.raw_ids.codes.tolist() == [1, 2, 3, 4]
    assert trace.definition.tail == "drop"


def test_empty_id_lists_are_requests(tmp_path):
    trace = read_trace(put(tmp_path, lines(A, {**A, "input_length": 9, "hash_ids": []}, B)), block_size=32)
    assert blocks(trace) == [[0, 1, 2, 3], [], [0, 1, 2, 3, 4]]


def test_sort_and_head(tmp_path):
    late = {**B, "timestamp": 50, "hash_ids": [9, 8, 7, 6, 5]}
    path = put(tmp_path, lines(late, A, B))
    with pytest.raises(TraceError, match=r"trace.jsonl:2: timestamp: wanted >= 50"):
        read_trace(path)
    trace = read_trace(path, sort=True)
    assert blocks(trace) == [[0, 1, 2, 3], [0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]
    assert blocks(read_trace(path, sort=True, head=2)) == blocks(trace)[:2]
    assert read_trace(path, head=1).arrival_ns.tolist() == [50_000_000]
    skipped = read_trace(path, skip_bad=True)
    assert skipped.n_requests == 1 and skipped.definition.rows_dropped == 2


def test_files_in_one_numbering(tmp_path):
    first, second = put(tmp_path, lines(A), "1.jsonl"), put(tmp_path, lines(B), "2.jsonl")
    together = read_trace([first, second])
    assert blocks(together) == [[0, 1, 2, 3], [0, 1, 2, 3, 4]]
    assert together.definition.sources == (str(first), str(second))
    for source in (tmp_path, str(tmp_path / "*.jsonl")):
        assert blocks(read_trace(source)) == blocks(together)
    apart = read_trace([first, second], id_scope="file")
    assert blocks(apart) == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    with pytest.raises(TraceError, match=r"1.jsonl:1: timestamp"):
        read_trace([second, first])


def test_ids_local_to_sessions(tmp_path):
    path = put(tmp_path, lines({**A, "session_id": "s"}, {**B, "session_id": "t"}))
    assert blocks(read_trace(path, id_scope="conversation")) == [[0, 1, 2, 3], [4, 5, 6, 7, 8]]
    with pytest.raises(TraceError, match="session_id"):
        read_trace(put(tmp_path, lines(A)), id_scope="conversation")


def test_ids_of_any_kind_stay_apart(tmp_path):
    kinds = [1, "1", 1 + 2**32, 2**63, 2**64 - 1, 2**64, -1, "0x1", -(2**63), 2**63 - 1, 10**30]
    rows = [{"timestamp": k, "input_length": 4, "hash_ids": [raw]} for k, raw in enumerate(kinds * 2)]
    trace = read_trace(put(tmp_path, lines(*rows)), block_size=4)
    assert blocks(trace) == [[k] for k in range(len(kinds))] * 2
    assert [trace.raw_ids[k] for k in range(len(kinds))] == kinds


def test_delays(tmp_path):
    rows = [
        {"session_id": "a", "timestamp": 100, "input_length": 4, "hash_ids": [1]},
        {"session_id": "a", "delay": 50, "input_length": 8, "hash_ids": [1, 2]},
        {"session_id": "b", "timestamp": 20, "input_length": 4, "hash_ids": [7]},
        {"session_id": "b", "delay_ms": 10.5, "input_length": 8, "hash_ids": [7, 8], "request_id": "r"},
        {"session_id": "c", "wait_for": ["r"], "tool_wait_ms": 1, "input_length": 4, "hash_ids": [9]},
    ]
    trace = read_trace(put(tmp_path, lines(*rows)), block_size=4)
    assert (trace.arrival_ns / 1e6).tolist() == [20, 30.5, 31.5, 100, 150]
    assert blocks(trace) == [[0], [0, 1], [2], [3], [3, 4]]
    assert "delay" in trace.definition.notes[0]
    with pytest.raises(TraceError, match=r":2: delay: wanted a time in ms: a number >= 0, found -1"):
        read_trace(put(tmp_path, lines(rows[0], {**rows[1], "delay": -1})), block_size=4)


def test_delta_prompts(tmp_path):
    rows = [
        {"session_id": "a", "timestamp": 0, "input_length": 10, "hash_ids": [1, 2, 3]},
        {"session_id": "b", "timestamp": 1, "input_length": 4, "hash_ids": [1]},
        {"session_id": "a", "timestamp": 2, "input_length": 7, "hash_ids": [4, 5]},
        {"session_id": "a", "timestamp": 3, "input_length": 4, "hash_ids": [6]},
    ]
    for name, given_rows in (
        ("option", rows),
        ("field", [{**row, "message_mode": "delta"} for row in rows]),
    ):
        options = {"delta": "yes"} if name == "option" else {}
        trace = read_trace(put(tmp_path, lines(*given_rows)), block_size=4, **options)
        assert blocks(trace) == [[0, 1, 2], [0], [0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5]]
        assert trace.input_tokens.tolist() == [10, 4, 3 * 4 + 7, 5 * 4 + 4]
    assert blocks(read_trace(put(tmp_path, lines(*rows)), block_size=4))[3] == [5]


def test_bailian(tmp_path):
    def row(chat, parent, time, n):
        return {
            "chat_id": chat, "parent_chat_id": parent, "timestamp": time, "input_length": 16 * n - 3,
            "output_length": 5, "type": "text", "turn": 1, "hash_ids": list(range(n)),
        }  # fmt: skip

    trace = read_trace(put(tmp_path, lines(row(5, -1, 0.0, 2), row(6, 5, 1.25, 3), row(7, 6, 2, 4), row(9, 8, 3, 2))))
    d = trace.definition
    assert (d.format, d.block_size, d.id_kind, d.tail_rule, d.time_unit) == ("bailian", 16, "block", "ceil", "s")
    assert [trace.session[i] for i in range(4)] == ["5", "5", "5", "8"]
    assert [trace.request_id[i] for i in range(4)] == ["5", "6", "7", "9"]
    assert trace.arrival_ns.tolist() == [0, 1_250_000_000, 2_000_000_000, 3_000_000_000]
    converted = {**row(1, -1, 0, 33), "input_length": 521, "hash_ids": list(range(33))}
    assert read_trace(put(tmp_path, lines(converted))).request_blocks.tolist() == [33]


def test_generic_names(tmp_path):
    rows = [
        {"ts_ms": 5, "blocks": ["a", "b"], "n": 7, "who": "t1", "conv": 4},
        {"ts_ms": 6, "blocks": ["a", "b"], "n": 7, "who": "t2", "conv": 4},
    ]
    fields = {"ids": "blocks", "time": "ts_ms", "input_tokens": "n", "tenant": "who", "session": "conv"}
    path = put(tmp_path, lines(*rows))
    trace = read_trace(path, fields=fields, block_size=4)
    assert blocks(trace) == [[0, 1], [2, 3]]
    assert trace.arrival_ns.tolist() == [5_000_000, 6_000_000]
    assert trace.tenant.names == ("t1", "t2") and trace.session.names == ("4",)
    text = ",".join(f"{k}={v}" for k, v in fields.items())
    assert blocks(read_trace(path, format="jsonl", fields=text, block_size=4)) == blocks(trace)
    with pytest.raises(UnknownName, match="did you mean"):
        read_trace(path, fields={"idz": "blocks"})
    bare = read_trace(put(tmp_path, lines({"ids": [1, 2]}, {"ids": [1]})))
    assert bare.definition.time_unit == "none" and bare.input_tokens is None and bare.definition.block_size is None


def test_times_in_nanoseconds_are_exact(tmp_path):
    times = [1_720_000_000_000_000_001, 1_720_000_000_000_000_002, 2**63 - 2]
    trace = read_trace(put(tmp_path, lines(*({"arrival_ns": time, "ids": [1]} for time in times))))
    assert trace.arrival_ns.tolist() == times


def test_named_and_recognised_are_the_same(tmp_path):
    for format in FORMATS:
        if not format.sample.startswith("{"):
            continue
        path = put(
            tmp_path, format.sample.replace("\n", "").encode() if format.name == "weka" else format.sample.encode()
        )
        needs = {"tokenizer": tiny_tokenizer()} if format.name == "text" else {}
        named = read_trace(path, format=format.name, sort=True, **needs)
        found = read_trace(path, sort=True, **needs)
        assert found.definition == named.definition and found.definition.format == format.name
        assert blocks(found) == blocks(named)
        for key, _ in format.fields:
            assert key.replace("requests[].", "").split(",")[0] in format.sample or key in SPARE, (format.name, key)


SPARE = {"completion_ns", "block_size", "tool_wait_ms, wait_for", "message_mode", "request_id, type, model", "tenant",
         "request_type, model, request_id"}  # fmt: skip


def test_names_of_formats():
    names = [name for format in FORMATS for name in (format.name, *format.aliases)]
    assert len(names) == len(set(names))
    assert all(format_named(name).name for name in names)
    with pytest.raises(UnknownName, match="did you mean 'mooncake'"):
        format_named("moonckae")


@pytest.mark.parametrize(
    "options",
    [{"tail": "cut"}, {"block_size": 0}, {"head": 0}, {"time_unit": "min"}, {"id_scope": "x"}, {"no_option": 1}],
)
def test_bad_options(tmp_path, options):
    with pytest.raises(BadParameter):
        read_trace(put(tmp_path, lines(A)), **options)


def test_progress(tmp_path):
    path, calls = put(tmp_path, lines(A, B)), []
    read_trace(path, progress=lambda *numbers: calls.append(numbers))
    assert calls[-1] == (2, path.stat().st_size, path.stat().st_size)
