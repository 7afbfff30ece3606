"""Real traces: every golden point, and figures that others measured."""

from __future__ import annotations

import numpy as np
import pytest

from hitcurve.formats import read_trace
from hitcurve.lru import lru_facts

MOONCAKE = "mooncake_conversation.jsonl.gz"


@pytest.fixture(scope="module")
def facts_of(shared):
    known = {}

    def facts(name):
        if name not in known:
            known[name] = lru_facts(read_trace(shared / "data" / name, format="mooncake"))
        return known[name]

    return facts


@pytest.mark.parametrize("name", [MOONCAKE, "agentic_a.jsonl.zst"])
def test_golden_points(name, vectors, facts_of):
    expected, facts = vectors("golden")[name], facts_of(name)
    if facts.trace.definition.block_size != expected["block_size"]:
        facts = lru_facts(facts.trace.with_definition(block_size=expected["block_size"]))
    trace = facts.trace
    assert (trace.n_requests, trace.n_block_refs, trace.n_blocks, trace.n_input_tokens) == tuple(
        expected[k] for k in ("requests", "block_refs", "unique_blocks", "input_tokens")
    )
    curves = {}
    for point in expected["points"]:
        capacity, ttl = point["capacity_blocks"], None if point["ttl_ms"] is None else point["ttl_ms"] / 1000
        assert facts.hit_blocks(capacity, ttl) == point["hit_blocks"]
        assert facts.hit_tokens(capacity, ttl) == point["full_block_hit_tokens"]
        row = next(facts.points([capacity], [ttl]).rows())
        assert (row["hit_blocks"], row["hit_tokens"]) == (point["hit_blocks"], point["full_block_hit_tokens"])
        if ttl not in curves:
            curves[ttl] = facts.curve(ttl)
        curve = curves[ttl]
        at = len(curve) if capacity is None else int(np.searchsorted(curve["capacity_blocks"], capacity, "right"))
        assert curve["hit_blocks"][at - 1] == point["hit_blocks"]
        assert curve["hit_tokens"][at - 1] == point["full_block_hit_tokens"]


def test_block_level_finds_the_same_facts(facts_of):
    run = facts_of(MOONCAKE)
    block = lru_facts(run.trace, "block")
    for column in ("segment_offsets", "start", "length", "age_ns"):
        assert np.array_equal(getattr(run, column), getattr(block, column))


def test_infinite_ratios_of_mooncake(facts_of):
    facts = facts_of(MOONCAKE)
    point = next(facts.points([None]).rows())
    assert point["hit_blocks"] == 105_710
    assert round(point["block_hit_ratio"], 6) == 0.366412
    assert round(point["token_hit_ratio"], 6) == 0.373380
    both = point["hit_tokens"] + point["tail_hit_tokens"]
    assert round(both / facts.trace.n_input_tokens, 6) == 0.373624


TAIL_FIRST = {  # capacity: ratio of blocks, of tokens; the same over the second half of the requests
    16: (0.0417, 0.0425, 0.0444, 0.0454),
    64: (0.0417, 0.0426, 0.0444, 0.0454),
    512: (0.0422, 0.0430, 0.0445, 0.0454),
    2048: (0.0550, 0.0560, 0.0553, 0.0564),
    8192: (0.1816, 0.1850, 0.1844, 0.1880),
    32768: (0.3349, 0.3413, 0.3485, 0.3554),
    65536: (0.3594, 0.3663, 0.3758, 0.3833),
}


def test_ratios_measured_by_others_on_mooncake(facts_of):
    facts = facts_of(MOONCAKE)
    trace, half = facts.trace, facts.trace.n_requests // 2
    for capacity, wanted in TAIL_FIRST.items():
        found = []
        for rows in (slice(None), slice(half, None)):
            hits = facts.hits_per_request(capacity)[rows]
            full = np.minimum(hits, facts.full_blocks[rows]).sum() * facts.block_size
            found += [hits.sum() / trace.request_blocks[rows].sum(), full / trace.input_tokens[rows].sum()]
        assert [round(float(f), 4) for f in found] == list(wanted), capacity
