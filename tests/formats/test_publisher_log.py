"""Publisher logs: events become requests, writes their completions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, TraceError
from hitcurve.formats import read_trace, write_trace
from hitcurve.trace import Trace
from tests.naive import formats as naive
from tests.naive.pairing import Event, pair

GET = {"type": "GetCacheLocation", "source": "a", "trigger_time_us": 1000, "input_len": 8, "keys": [1, 2]}
START = {"type": "StartWriteCache", "source": "a", "trigger_time_us": 1200, "write_session_id": "w", "keys": [1, 2]}
FINISH = {"type": "FinishWriteCache", "source": "a", "trigger_time_us": 1500, "write_session_id": "w"}
SIZE = 4


def put(folder: Path, *events: dict[str, Any]) -> Path:
    (folder / "log.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return folder / "log.jsonl"


def changed(event: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {k: v for k, v in {**event, **fields}.items() if v is not ...}


def completions(trace: Trace) -> list[int] | None:
    return None if trace.completion_ns is None else trace.completion_ns.tolist()


def test_a_request_and_its_write(tmp_path):
    trace = read_trace(put(tmp_path, GET, START, FINISH), block_size=SIZE)
    assert trace.definition.format == "publisher_log" and trace.definition.time_unit == "us"
    assert trace.arrival_ns.tolist() == [1_000_000] and completions(trace) == [1_500_000]
    assert trace.input_tokens.tolist() == [8] and trace.tenant.names == ("a",)
    assert trace.request_type is None and trace.request_id is None
    assert trace.n_blocks == 2


def test_times_are_exact(tmp_path):
    now = 1_720_000_000_123_457  # microseconds: beyond a float's 53 bits in nanoseconds
    trace = read_trace(put(tmp_path, changed(GET, trigger_time_us=now), changed(START, trigger_time_us=now)))
    assert trace.arrival_ns.tolist() == [now * 1000]
    assert completions(trace) == [now * 1000 + 100_000_000]


def test_which_write_is_whose(tmp_path):
    def found(*events: dict[str, Any]) -> list[int]:
        trace = read_trace(put(tmp_path, *events), block_size=SIZE)
        return completions(trace) or [-1] * len(trace)

    other = changed(GET, keys=[1, 3])  # the last key may differ
    assert found(other, START, FINISH) == [1_500_000]
    assert found(changed(GET, keys=[3, 2]), START, FINISH) == [-1]
    assert found(changed(GET, source="b"), START, FINISH) == [-1]
    assert found(changed(GET, trigger_time_us=1201), START, FINISH) == [-1]
    assert found(GET, changed(GET, trigger_time_us=1100), START, FINISH) == [-1, 1_500_000]  # the latest
    assert found(START, GET, FINISH) == [1_500_000]  # times count, not places
    longer = changed(START, keys=[1, 2, 3, 4])
    assert found(GET, longer, FINISH) == [1_500_000]
    assert found(GET, changed(START, keys=[]), FINISH) == [-1]
    early = changed(FINISH, trigger_time_us=1100)
    assert found(GET, START, early) == [1_200_000]  # no write ends before it starts


def test_lengths(tmp_path):
    lengths = [
        ({"input_len": 9}, 9), ({"input_len": 0, "input_length": 10}, 10), ({"input_len": ..., "input_tokens": 11}, 11),
        ({"input_len": None, "input_length": -1, "input_tokens": 0, "tokens": list(range(8))}, 8),
    ]  # fmt: skip
    events = [changed(GET, trigger_time_us=k, **fields) for k, (fields, _) in enumerate(lengths)]
    bare = [changed(GET, input_len=...), changed(GET, input_len=0, tokens=[])]
    path = put(tmp_path, *events, *bare)
    trace = read_trace(path, block_size=SIZE)
    assert trace.input_tokens.tolist() == [length for _, length in lengths]
    assert trace.definition.rows_dropped == 2
    assert f"{path}:5: GetCacheLocation without a length" in trace.definition.notes[-1]
    with pytest.raises(TraceError, match=r"no usable row: all 2 are bad, the first: .*:1: GetCacheLocation without"):
        read_trace(put(tmp_path, *bare))


def test_what_is_left_out_is_said(tmp_path):
    others = [{"type": "Heartbeat"}, {"type": "Heartbeat"}, changed(FINISH, write_session_id=9)]
    lone = changed(START, write_session_id="x", keys=[5])
    notes = read_trace(put(tmp_path, GET, START, FINISH, lone, *others), block_size=SIZE).definition.notes
    assert notes == (
        "events of other types left out: Heartbeat (2)",
        "2 writes, 1 of them without an end (100 ms assumed): 1 are the completion of a request, the others are "
        "left out",
        "1 ends of writes without a start left out",
    )
    raw = read_trace(put(tmp_path, GET, START, FINISH), block_size=SIZE, identity="raw")
    assert raw.completion_ns is None and "identity raw" in raw.definition.notes[0]


BAD = {
    "no type": (changed(GET, type=...), "type: wanted the name of an event"),
    "no source": (changed(GET, source=""), "source: wanted a string that is not empty, found ''"),
    "a float time": (changed(GET, trigger_time_us=1.5), "trigger_time_us: wanted a whole number of microseconds"),
    "no time": (changed(START, trigger_time_us=...), "trigger_time_us"),
    "no session": (changed(START, write_session_id=...), "write_session_id: wanted a string or a whole number"),
    "no session at the end": (changed(FINISH, write_session_id=None), "write_session_id"),
    "a length a string": (changed(GET, input_len="8"), "input_len: wanted a whole number of tokens, found '8'"),
    "no keys": (changed(GET, keys=...), "keys: wanted a list of block ids, found nothing"),
    "a write without keys": (changed(START, keys=...), "keys: wanted a list of block ids"),
    "a key a string": (changed(GET, keys=[1, "2"]), "keys: wanted whole numbers of 64 bits, found '2'"),
    "too many keys": (changed(GET, keys=[1, 2, 3, 4]), "4 ids for 8 tokens"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_events(name, tmp_path):
    event, part = BAD[name]
    path = put(tmp_path, GET, event)
    with pytest.raises(TraceError) as caught:
        read_trace(path, block_size=SIZE)
    assert part in str(caught.value) and str(caught.value).startswith(f"{path}:2: ")
    kept = read_trace(path, block_size=SIZE, skip_bad=True)
    assert (kept.n_requests, kept.definition.rows_dropped) == (1, 1)
    with pytest.raises(BadParameter, match="in us"):
        read_trace(path, time_unit="ms")


keys = st.lists(st.integers(1, 2), max_size=4)
sources = st.sampled_from("ab")
moments = st.integers(0, 12)


@st.composite
def logs(draw):
    """Events as they stand in a log, and what they are."""
    written, known = [], []
    for k in range(draw(st.integers(1, 12))):
        source, time, own = draw(sources), draw(moments), draw(keys)
        if draw(st.booleans()):
            written.append(
                changed(GET, source=source, trigger_time_us=time, keys=own, input_len=max(1, SIZE * len(own)))
            )
            known.append(Event(source, time * 1000, own))
        else:
            lasts = draw(st.sampled_from([None, 0, 1, 200_000]))
            session = {"source": source, "write_session_id": k}
            written.append(changed(START, trigger_time_us=time, keys=own, **session))
            if lasts is not None:
                written.append(changed(FINISH, trigger_time_us=time + lasts, **session))
            end = time * 1000 + (100_000_000 if lasts is None else lasts * 1000)
            known.append(Event(source, time * 1000, own, end))
    return written, known


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(log=logs())
def test_pairs_are_those_of_the_slow_way(tmp_path, log):
    written, known = log
    reads = sorted((event.time, k) for k, event in enumerate(known) if event.end is None)
    if not reads:
        return
    trace = read_trace(put(tmp_path, *written), format="publisher_log", block_size=SIZE)
    write_of = pair(known)
    expected = [-1 if write_of[k] < 0 else known[write_of[k]].end for _, k in reads]
    assert (completions(trace) or [-1] * len(reads)) == expected
    assert trace.arrival_ns.tolist() == [time for time, _ in reads]
    dense = naive.intern([(known[k].source, known[k].keys) for _, k in reads])
    assert [trace.blocks(i).tolist() for i in range(len(trace))] == dense


def test_a_log_becomes_tair_rows(tmp_path):
    trace = read_trace(put(tmp_path, GET, START, FINISH, changed(GET, trigger_time_us=2000, keys=[1, 2**64 - 1])))
    write_trace(trace, tmp_path / "rows.jsonl", format="tair")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    assert [(row["instance_id"], row["timestamp_ns"], row["input_len"], row["keys"]) for row in rows] == [
        ("a", 1_000_000, 8, [1, 2]), ("a", 2_000_000, 8, [1, -1])
    ]  # fmt: skip
