"""The real traces, against figures counted by other programs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hitcurve.formats import read_trace


def infinite_hits(trace) -> int:
    """Leading blocks seen before: what an unbounded cache hits, since a new block makes all below it new."""
    return trace.n_block_refs - trace.n_blocks


@pytest.mark.parametrize("name", ["mooncake_conversation.jsonl.gz", "agentic_a.jsonl.zst"])
def test_counts(shared, vectors, name):
    golden = vectors("golden")[name]
    trace = read_trace(shared / "data" / name)
    d = trace.definition
    assert trace.n_requests == golden["requests"]
    assert trace.n_block_refs == golden["block_refs"]
    assert trace.n_blocks == golden["unique_blocks"]
    assert len(np.unique(trace.raw_ids.codes)) == golden["raw_unique"]
    assert trace.n_input_tokens == golden["input_tokens"]
    assert trace.request_blocks.max() == golden["max_blocks"]
    assert (d.block_size, d.time_unit, d.format) == (golden["block_size"], golden["time_unit"], "mooncake")
    assert d.tail_rule == ("ceil" if golden["ceil_rows"] else "floor")
    partial = trace.input_tokens % d.block_size != 0
    ceil = partial & (trace.request_blocks == -(-trace.input_tokens // d.block_size))
    assert int(ceil.sum()) == golden["ceil_rows"]


def test_mooncake_facts(shared):
    path = shared / "data" / "mooncake_conversation.jsonl.gz"
    trace = read_trace(path)
    assert infinite_hits(trace) == 105_710
    assert int((trace.input_tokens % 512 == 0).sum()) == 22
    assert sorted(trace.raw_ids.codes.tolist()) == list(range(182_790))
    dropped = read_trace(path, tail="drop")
    full = trace.input_tokens // 512
    assert dropped.definition.tail == "drop"
    assert (dropped.request_blocks == full).all()
    assert round(infinite_hits(dropped) * 512 / trace.n_input_tokens, 6) == 0.373380


def test_weka_scoped_and_merged(shared):
    folder = shared / "data" / "weka"
    conversations = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    scoped = read_trace(folder)
    assert scoped.definition.id_scope == "conversation"
    assert scoped.n_requests == sum(c["totals"]["subagent_count"] >= 0 and _requests(c) for c in conversations)
    assert scoped.n_input_tokens == sum(c["totals"]["combined_tokens"]["input"] for c in conversations)
    assert scoped.n_blocks == sum(_distinct_paths([c]) for c in conversations)
    merged = read_trace(folder, id_scope="global")
    assert merged.n_blocks == _distinct_paths(conversations)
    assert infinite_hits(merged) > infinite_hits(scoped)


def _lists(conversation):
    for entry in conversation["requests"]:
        if entry["type"] == "subagent":
            yield from _lists(entry)
        else:
            yield entry["hash_ids"]


def _requests(conversation) -> int:
    return sum(1 for _ in _lists(conversation))


def _distinct_paths(conversations) -> int:
    return len({tuple(ids[: k + 1]) for c in conversations for ids in _lists(c) for k in range(len(ids))})
