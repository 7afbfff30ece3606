"""Rows of any trace are its requests: full blocks alone, in batches, from several files."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import TraceError, UnsupportedTrace
from hitcurve.formats import write_trace
from hitcurve.offline import rows as rows_module
from hitcurve.offline.rows import rows_of, rows_of_trace
from hitcurve.trace import Labels, Trace
from tests.lru.traces import tree_requests


def everything(rows):
    """(instance, name, time, length, keys) of each row."""
    found = []
    for batch in rows.batches:
        assert batch.lines[0] == len(found) + 1 and not batch.is_write.any()
        keys = [batch.keys[begin:end].tolist() for begin, end in pairwise(batch.ends)]
        times, lengths = batch.timestamp_ns.tolist(), batch.input_len.tolist()
        found += zip(batch.instance_ids, batch.trace_ids, times, lengths, keys, strict=True)
    return found


@settings(max_examples=100, deadline=None)
@given(tree_requests(), st.integers(1, 6), st.data())
def test_a_trace_as_rows(requests, batch, data):
    tails = data.draw(st.lists(st.booleans(), min_size=len(requests), max_size=len(requests)))
    tails = [tail and bool(request) for tail, request in zip(tails, requests, strict=True)]
    tokens = [4 * len(request) - 3 * tail for request, tail in zip(requests, tails, strict=True)]
    tenants = data.draw(st.lists(st.sampled_from(["a", "b", None]), min_size=len(requests), max_size=len(requests)))
    trace = Trace.of_requests(
        requests, block_size=4, input_tokens=np.array(tokens, np.int64), tenant=Labels.of(tenants)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "KEYS", batch)
        rows = rows_of_trace(trace)
        found = everything(rows)
    names = [tenant or "instance" for tenant in tenants]
    assert [each[0] for each in found] == names
    assert [each[1] for each in found] == [f"trace_{name}_{k * 10**9}" for k, name in enumerate(names)]
    assert [each[3] for each in found] == tokens
    full = [request[: len(request) - tail] for request, tail in zip(requests, tails, strict=True)]
    again = Trace.of_requests([each[4] for each in found], identity="raw")
    wanted = Trace.of_requests(full)
    assert again.contract
    for column in ("span_offsets", "span_first", "span_length"):
        assert np.array_equal(getattr(again, column), getattr(wanted, column))
    assert any("partial tail" in note for note in rows.notes) == any(tails)


def test_what_cannot_be_rows():
    with pytest.raises(UnsupportedTrace, match="block size is unknown"):
        rows_of_trace(Trace.of_requests([[1]]))
    lacking = Trace.of_requests([[1], [1, 2]], block_size=4, input_tokens=np.array([4, 12]))
    with pytest.raises(
        UnsupportedTrace, match="request 2: wanted all its full blocks, found 2 of 4 tokens for 12 tokens"
    ):
        rows_of_trace(lacking)


def test_without_lengths_all_tokens_are_in_full_blocks():
    found = everything(rows_of_trace(Trace.of_requests([[1], [1, 2]], block_size=4)))
    assert [each[3] for each in found] == [4, 8]


def test_tair_rows_streamed_or_whole_are_the_same(tmp_path):
    requests = [[1, 2, 3], [1, 2], [4], [1, 2, 3]]
    trace = Trace.of_requests(requests, times=[1, 2, 3, 4], block_size=4, input_tokens=np.array([13, 8, 5, 12]))
    path = tmp_path / "trace.jsonl"
    write_trace(trace, path, format="tair")
    with closing(rows_of(path, 4)) as streamed, closing(rows_of(path, 4, options={"head": 4})) as whole:
        first, second = everything(streamed), everything(whole)
    assert [each[:4] for each in first] == [each[:4] for each in second]
    assert [each[4] for each in second] == [[0, 1, 2], [0, 1], [3], [0, 1, 2]]
    assert len({tuple(each[4]) for each in first}) == 3


def test_progress_counts_all_files(tmp_path):
    trace = Trace.of_requests([[1, 2]], times=[1], block_size=4, input_tokens=np.array([8]))
    paths = [tmp_path / f"{k}.jsonl" for k in range(3)]
    for path in paths:
        write_trace(trace, path, format="tair")
    told = []
    rows = rows_of(paths, 4, lambda *each: told.append(each))
    assert sum(len(batch) for batch in rows.batches) == 3
    size = paths[0].stat().st_size
    assert told == [(k, k * size, 3 * size) for k in (1, 2, 3)]


def test_a_file_that_is_no_trace(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n')
    with pytest.raises(TraceError, match="no known format"):
        rows_of(path)
