"""Every kind of bad input has its one-line error: path, line, field, wanted, found."""

from __future__ import annotations

import gzip
import io
import json
import os
import resource
import sys
from pathlib import Path

import pytest
import zstandard

from hitcurve.errors import HitcurveError, TraceError
from hitcurve.formats import read_trace

GOOD = b'{"timestamp": 0, "input_length": 100, "hash_ids": [1, 2, 3, 4]}\n'
ROW = {"timestamp": 1, "input_length": 100, "output_length": 2, "hash_ids": [1, 2, 3, 4]}
TEXT = GOOD * 2000


def refusal(source, **options) -> str:
    with pytest.raises(TraceError) as caught:
        read_trace(source, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def put(folder: Path, data: bytes, name: str = "t.jsonl") -> Path:
    (folder / name).write_bytes(data)
    return folder / name


def changed(**fields) -> bytes:
    return GOOD + (json.dumps({k: v for k, v in {**ROW, **fields}.items() if v is not ...}) + "\n").encode()


FILES = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n  \n", "no usable row"),
    "text": (b"this is no trace at all, but some text\nof two lines\n", ":1: not JSON"),
    "not utf-8": (b'{"hash_ids": [1], "x": "\xff"}\n', "not UTF-8"),
    "utf-16": (('{"hash_ids": [1]}\n' * 9).encode("utf-16"), "not UTF-8"),
    "a list": (b"[1, 2]\n", "wanted a JSON object, found list"),
    "other keys": (b'{"a": 1, "b": 2}\n', "has records with the keys a, b"),
    "LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n", "git lfs pull"),
    "bzip2": (b"BZh91AY&SY" + bytes(50), "bzip2"),
    "truncated gzip": (gzip.compress(TEXT)[:-20], "truncated"),
    "truncated zstd": (zstandard.compress(TEXT)[:-4], "truncated"),
    "truncated second zstd frame": (zstandard.compress(TEXT) + zstandard.compress(TEXT)[:20], "truncated"),
    "damaged gzip": (gzip.compress(TEXT)[:60] + b"\xff" * 40 + gzip.compress(TEXT)[100:], "cannot be read"),
    "damaged zstd": (zstandard.compress(TEXT)[:9] + b"\xff" * 20, "cannot be read"),
    "rubbish after gzip": (gzip.compress(TEXT) + b"rubbish", "cannot be read"),
    "half a line": (GOOD + b'{"timestamp": 1, "input_len', ":2: not JSON"),
    "not a Parquet file": (b"PAR1" + bytes(100), "Parquet"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files(name, tmp_path):
    data, part = FILES[name]
    path = put(tmp_path, data)
    assert part in (message := refusal(path)) and str(path) in message


ROWS = {
    "length missing": ({"input_length": ...}, ":2: input_length: wanted a whole number from 0 to 4294967295, found no"),
    "length null": ({"input_length": None}, "input_length: wanted a whole number from 0 to 4294967295, found None"),
    "length negative": ({"input_length": -3}, "input_length: wanted a whole number from 0 to 4294967295, found -3"),
    "length huge": ({"input_length": 10**12}, "found 1000000000000"),
    "length beyond 64 bits": ({"input_length": 2**64}, "found 18446744073709551616"),
    "length a float": ({"input_length": 100.0}, "found 100.0"),
    "length a string": ({"input_length": "100"}, "found '100'"),
    "length a bool": ({"input_length": True}, "found True"),
    "output negative": ({"output_length": -1}, "output_length"),
    "output a float": ({"output_length": 1.5}, "output_length"),
    "time missing": ({"timestamp": ...}, ":2: timestamp: wanted a time in ms: a number >= 0"),
    "time null": ({"timestamp": None}, "found None"),
    "time not a number": ({"timestamp": float("nan")}, "found nan"),
    "time infinite": ({"timestamp": float("inf")}, "found inf"),
    "time negative": ({"timestamp": -1}, "found -1"),
    "time a string": ({"timestamp": "0"}, "found '0'"),
    "time a bool": ({"timestamp": True}, "found True"),
    "time huge": ({"timestamp": 10**30}, "timestamp"),
    "ids missing": ({"hash_ids": ...}, ":2: hash_ids: wanted a list of block ids, found nothing"),
    "ids null": ({"hash_ids": None}, "hash_ids: wanted a list of block ids, found None"),
    "ids a number": ({"hash_ids": 7}, "found 7"),
    "ids a string": ({"hash_ids": "1,2"}, "found '1,2'"),
    "an id a bool": ({"hash_ids": [1, True, 3]}, "hash_ids: wanted block ids that are whole numbers or strings"),
    "an id a float": ({"hash_ids": [1, 2.0, 3, 4]}, "found 2.0"),
    "an id null": ({"hash_ids": [1, None, 3, 4]}, "found None"),
    "an id a list": ({"hash_ids": [1, [2], 3, 4]}, "found [2]"),
    "too few ids": ({"hash_ids": [1]}, "1 ids for 100 tokens fit block sizes 51 or more"),
    "too many ids": ({"hash_ids": list(range(200))}, "200 ids for 100 tokens fit no block size"),
    "session a list": ({"session_id": []}, "session_id: wanted a string or a whole number, found []"),
    "turn a string": ({"turn": "1"}, "turn"),
    "block size a string": ({"block_size": "16"}, "block_size: wanted a whole number of tokens >= 1, found '16'"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows(name, tmp_path):
    fields, part = ROWS[name]
    path = put(tmp_path, GOOD + changed(**fields))
    message = refusal(path)
    assert part in message.replace(":3:", ":2:") and f"{path}:3: " in message
    kept = read_trace(path, skip_bad=True)
    assert kept.n_requests == 2 and kept.definition.rows_dropped == 1
    assert f"{path}:3: " in kept.definition.notes[-1]
    kept = read_trace(put(tmp_path, GOOD + changed(**fields) + b"\n\n{\n"), skip_bad=True)
    assert kept.n_requests == 2 and kept.definition.rows_dropped == 2
    assert f"{path}:6: not JSON" in kept.definition.notes[-1]


def test_zero_is_a_time(tmp_path):
    for zero in (0, 0.0, -0.0):
        path = put(
            tmp_path, (json.dumps({**ROW, "timestamp": zero}) + "\n").encode() + changed(timestamp=2)[len(GOOD) :]
        )
        assert read_trace(path).arrival_ns.tolist() == [0, 2_000_000]


def test_no_row_is_good(tmp_path):
    message = refusal(put(tmp_path, b'{"hash_ids": 1}\n{"hash_ids": 2}\n'), skip_bad=True)
    assert "no usable row: all 2 are bad, the first: " in message


def test_mixed_units(tmp_path):
    message = refusal(
        put(tmp_path, changed(timestamp=1_700_000_000)[len(GOOD) :] + changed(timestamp=1_700_000_000_000)[len(GOOD) :])
    )
    assert ":2: timestamp: mixed units: a time in ms since 1970 after times in s" in message
    seconds = read_trace(put(tmp_path, changed(timestamp=1_700_000_000)[len(GOOD) :]))
    assert "look like s since 1970" in " ".join(seconds.definition.notes)


def test_sizes_that_contradict(tmp_path):
    rows = changed(block_size=32)[len(GOOD) :] + changed(block_size=16)[len(GOOD) :]
    assert ":2: block_size: wanted 32, as in the rows before, found 16" in refusal(put(tmp_path, rows))
    assert "wanted 32, as the file says, found 64" in refusal(
        put(tmp_path, changed(block_size=32)[len(GOOD) :]), block_size=64
    )


WEKA = {"id": "c", "block_size": 64, "requests": [{"t": 0, "type": "n", "in": 64, "out": 1, "hash_ids": [1]}]}
AGENT = {"t": 1, "type": "subagent", "agent_id": "a", "requests": [{"t": 0, "type": "n", "in": 64, "hash_ids": [2]}]}
CONVERSATIONS = {
    "requests no list": ({**WEKA, "requests": 5}, "requests: wanted a list of requests, found 5"),
    "a request no object": ({**WEKA, "requests": [7]}, "requests: wanted a list of JSON objects, found 7"),
    "no time": ({**WEKA, "requests": [{"in": 64, "hash_ids": [1]}]}, "t: wanted a time in seconds"),
    "a step back": ({**WEKA, "requests": [{**AGENT, "t": 5}, AGENT]}, "t: wanted >= 5, the time before it (or --sort)"),
    "idle agent": ({**WEKA, "requests": [{**AGENT, "requests": None}]}, "requests: wanted a list of requests"),
    "scope unknown": ({**WEKA, "hash_id_scope": "galaxy"}, "hash_id_scope: wanted local or global, found 'galaxy'"),
    "bad ids": ({**WEKA, "requests": [{**AGENT, "requests": [{"t": 0, "in": 64, "hash_ids": [1.5]}]}]}, "found 1.5"),
    "length missing": ({**WEKA, "requests": [{"t": 0, "hash_ids": [1]}]}, "in: wanted a whole number"),
}  # fmt: skip


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversations(name, tmp_path):
    conversation, part = CONVERSATIONS[name]
    path = put(tmp_path, json.dumps(WEKA).encode() + b"\n" + json.dumps(conversation).encode())
    assert part in (message := refusal(path, format="weka")) and f"{path}:2: " in message
    assert read_trace(path, format="weka", skip_bad=True).definition.rows_dropped == 1


def test_scope_absent_is_local_and_said(tmp_path):
    second = {**WEKA, "id": "d"}
    trace = read_trace(put(tmp_path, json.dumps(WEKA).encode() + b"\n" + json.dumps(second).encode()))
    assert trace.n_blocks == 2 and trace.definition.id_scope == "conversation"
    assert "hash_id_scope absent" in trace.definition.notes[0]
    shared = [json.dumps({**c, "hash_id_scope": "global"}).encode() for c in (WEKA, second)]
    trace = read_trace(put(tmp_path, b"\n".join(shared)))
    assert trace.n_blocks == 1 and trace.definition.id_scope == "global"


def test_paths(tmp_path):
    assert "No such file" in refusal(tmp_path / "absent.jsonl")
    assert "no file matches" in refusal(str(tmp_path / "*.jsonl"))
    assert "no file here ends in" in refusal(tmp_path)
    assert "no file to read" in refusal([])
    put(tmp_path, b"see elsewhere", "README.md")
    put(tmp_path, GOOD)
    assert "1 file(s) with other endings" in read_trace(tmp_path).definition.notes[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission(tmp_path):
    path = put(tmp_path, GOOD)
    path.chmod(0)
    assert "Permission denied" in refusal(path)


def test_a_file_that_cannot_be_opened_or_read(tmp_path):
    """As the one above, for root too."""
    assert "Not a directory" in refusal(put(tmp_path, GOOD) / "within")
    assert "Input/output error" in refusal("/proc/self/mem")


SHAPES = {
    "gzip": gzip.compress(TEXT),
    "gzip of several members": gzip.compress(TEXT[: len(GOOD) * 700]) + gzip.compress(TEXT[len(GOOD) * 700 :]),
    "zstd": zstandard.compress(TEXT),
    "zstd of several frames": b"".join(zstandard.compress(TEXT[i : i + 999]) for i in range(0, len(TEXT), 999)),
    "zstd with a skippable frame": b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd" + zstandard.compress(TEXT),
    "plain": TEXT,
    "plain with a byte order mark": b"\xef\xbb\xbf" + TEXT,
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes(name, tmp_path, monkeypatch):
    trace = read_trace(put(tmp_path, SHAPES[name], "any.name"))
    assert (trace.n_requests, trace.n_blocks, trace.n_block_refs) == (2000, 4, 8000)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SHAPES[name])))
    piped = read_trace("-")
    assert piped.n_requests == 2000 and piped.definition.sources == ("-",)
    assert not sys.stdin.buffer.closed


def test_more_files_than_may_be_open(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    for k in range(300):
        put(tmp_path, GOOD, f"{k:03}.jsonl")
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    try:
        assert read_trace(tmp_path).n_requests == 300
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_errors_are_of_the_tree():
    assert issubclass(TraceError, HitcurveError)
