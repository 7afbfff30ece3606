"""lcp, lcsllm, oracleGeneral: layouts against the reference offsets, next accesses against a naive pass, bad files."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, TraceError
from hitcurve.formats import read_trace, write_trace
from hitcurve.formats.prefixsim import ENTRY_BYTES, HEADER_BYTES, LCP, LCSLLM, offsets
from hitcurve.trace import Labels, Trace
from tests.formats.binary import lcsllm_file, oracle_general_file


def _lcp(trace: Trace) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write_trace(trace, f"{folder}/trace.lcp")
        return Path(folder, "trace.lcp").read_bytes()


def _example() -> Trace:
    return Trace.of_requests(
        [[7, 8, 9], [7, 8, 10], [], [7, 8, 9, 11]],
        times=[0, 1.5, 1.5, 90],
        block_size=16,
        input_tokens=np.array([48, 41, 3, 64]),
        output_tokens=np.array([5, -1, 0, 7]),
        turn=np.array([1, 1, -1, 2]),
        session=Labels.of(["a", "b", None, "a"]),
        request_type=Labels.of(["text", None, "tool", "text"]),
    )


def test_layouts_have_the_reference_offsets(vectors):
    reference = vectors("prefixsim")
    record = reference["lcp_record_inferred"]
    names = [field.name for field in LCP.record]
    assert LCP.record_struct.size == record["record_bytes"]
    assert dict(zip(names, offsets(LCP.record), strict=True)) == record["offsets_inferred"]
    older = reference["lcsllm_v1"]
    assert LCSLLM.header_struct.size == older["header_bytes"] == HEADER_BYTES
    assert LCSLLM.record_struct.size == older["request_bytes"]
    assert older["entry_bytes"] == ENTRY_BYTES
    assert f"{LCSLLM.magic:#018x}" == older["magic"]
    found = dict(zip((field.name for field in LCSLLM.header), offsets(LCSLLM.header), strict=True))
    found["start_magic"] = 0
    assert {name: found[name] for name in older["header_offsets"]} == older["header_offsets"]


def test_an_lcp_file_byte_by_byte():
    data = _lcp(_example())
    assert struct.unpack_from("<QQqqqqqqiBBB", data) == (LCP.magic, 1, 4, 10, 5, 4, 0, 90_000_000, 16, 1, 1, 2)
    assert data[72:76] == b"text" and data[96:100] == b"tool"
    assert struct.unpack_from("<Q", data, 8184) == (LCP.magic,)
    at, found = HEADER_BYTES, []
    while at < len(data):
        record = struct.unpack_from("<qqqqqqIIIII", data, at)
        entries = struct.unpack_from("<" + "Qq" * record[6], data, at + 68)
        found.append((record, list(entries[::2]), list(entries[1::2])))
        at += 68 + 16 * record[6]
    none = 2**32 - 1
    # accesses are numbered 1 2 3 | 4 5 6 | | 7 8 9 10; a delta is the next access less that of the entry before
    assert found == [
        ((0, 0, 0, -1, 4, 1, 3, 48, 5, 1, 1), [1, 2, 3], [4, 1, 4]),
        ((1_500_000, 1_500_000, 1, -1, -1, 2, 3, 41, none, 1, 0), [1, 2, 4], [7, 1, -9]),
        ((1_500_000, 1_500_000, 2, -1, -1, 0, 0, 3, 0, none, 2), [], []),
        ((90_000_000, 90_000_000, 3, 0, -1, 1, 4, 64, 7, 2, 1), [1, 2, 3, 5], [-1, 0, 0, 0]),
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=12))
def test_next_accesses_equal_a_naive_pass(requests):
    data, at = _lcp(Trace.of_requests(requests)), HEADER_BYTES
    order = [tuple(request[: p + 1]) for request in requests for p in range(len(request))]
    number = 0
    for request in requests:
        n_blocks = struct.unpack_from("<I", data, at + 48)[0]
        assert n_blocks == len(request)
        following = 0
        for p in range(n_blocks):
            number += 1
            following += struct.unpack_from("<q", data, at + 68 + 16 * p + 8)[0]
            later = [k + 1 for k in range(number, len(order)) if order[k] == tuple(request[: p + 1])]
            assert following == (later[0] if later else -1)
        at += 68 + 16 * n_blocks
    assert at == len(data)


@pytest.mark.parametrize("squeeze", [bytes, zstandard.ZstdCompressor().compress], ids=["plain", "zstd"])
def test_there_and_back(tmp_path, squeeze):
    path = tmp_path / "trace.bin"
    path.write_bytes(squeeze(_lcp(_example())))
    for format in (None, "lcp"):
        back = read_trace(path, format=format)
        expected = _example()
        for name in (
            "span_offsets",
            "span_first",
            "span_length",
            "arrival_ns",
            "input_tokens",
            "output_tokens",
            "turn",
        ):
            assert np.array_equal(getattr(back, name), getattr(expected, name)), name
        assert [back.request_type[r] for r in range(4)] == ["text", None, "tool", "text"]
        assert [back.session[r] for r in range(4)] == ["1", "2", None, "1"]
        assert (back.definition.format, back.definition.block_size) == ("lcp", 16)


def test_requests_are_written_in_the_order_of_completion(tmp_path):
    trace = Trace.of_requests(
        [[1, 2], [3], [1, 2, 4]], times=[0, 1, 2], completion_ns=np.array([9, 3, 5]) * 1_000_000_000
    )
    path = tmp_path / "late.lcp"
    path.write_bytes(_lcp(trace))
    back = read_trace(path)
    assert [back.blocks(r).tolist() for r in range(3)] == [[0], [1, 2, 3], [1, 2]]
    assert back.arrival_ns.tolist() == [3_000_000_000, 5_000_000_000, 9_000_000_000]
    assert any("completion" in note for note in back.definition.notes)


def test_raw_identity_is_refused(tmp_path):
    path = tmp_path / "trace.lcp"
    path.write_bytes(_lcp(_example()))
    with pytest.raises(BadParameter, match="no raw form"):
        read_trace(path, identity="raw")


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: data[:100], "truncated"),
        (lambda data: data[:-1], "ends inside request 4 of 4"),
        (lambda data: data[: HEADER_BYTES + 40], "ends inside request 1 of 4"),
        (lambda data: data + b"x", "goes on after its 4 requests"),
        (lambda data: data[:8] + struct.pack("<Q", 2) + data[16:], "version: wanted 1, found 2"),
        (lambda data: data[:8184] + bytes(8) + data[8192:], "end_magic: wanted 0x000270636c746968"),
        (lambda data: data[:68] + b"\0" + data[69:], "block_id_kind: wanted 1"),
        (lambda data: data[: HEADER_BYTES + 64] + struct.pack("<I", 9) + data[HEADER_BYTES + 68 :], "type_id"),
    ],
)
def test_a_damaged_file_is_one_clear_error(tmp_path, damage, says):
    path = tmp_path / "bad.lcp"
    path.write_bytes(damage(_lcp(_example())))
    with pytest.raises(TraceError, match=says) as error:
        read_trace(path, format="lcp")
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_a_foreign_magic_says_what_was_expected(tmp_path):
    path = tmp_path / "foreign.lcp"
    path.write_bytes(bytes(9000))
    with pytest.raises(TraceError, match=f"start_magic: wanted {LCP.magic:#018x}"):
        read_trace(path, format="lcp")


def test_an_lcsllm_file_written_by_hand(tmp_path):
    path = tmp_path / "old.lcsllm"
    path.write_bytes(lcsllm_file())
    trace = read_trace(path)
    assert trace.definition.format == "lcsllm" and trace.definition.block_size == 64
    assert [trace.blocks(r).tolist() for r in range(2)] == [[0, 1], [0, 1, 2]]
    assert trace.arrival_ns.tolist() == [1_000_000, 2_000_000]
    assert [trace.request_id[r] for r in range(2)] == ["5", "6"]
    assert trace.request_type[0] == "chat"


def test_oracle_general_is_one_block_a_request(shared):
    path = shared / "data" / "cloudphysics.oracleGeneral.bin"
    trace = read_trace(path)
    assert trace.definition.format == "oracle-general"
    assert (trace.n_requests, trace.n_block_refs, trace.n_blocks) == (113_872, 113_872, 48_974)
    assert any("one block a request" in note for note in trace.definition.notes)
    assert read_trace(path, head=100).n_requests == 100


def test_ids_over_63_bits_stay_distinct(tmp_path):
    ids = [2**64 - 1, 2**63, 2**63 - 1, 1, 2**64 - 1]
    path = tmp_path / "wide.bin"
    path.write_bytes(oracle_general_file(ids))
    trace = read_trace(path, format="oracleGeneral")
    assert [trace.blocks(r).tolist() for r in range(5)] == [[0], [1], [2], [3], [0]]
    assert [trace.raw_ids[b] for b in range(4)] == ids[:4]
