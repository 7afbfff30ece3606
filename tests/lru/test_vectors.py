"""The reference's own vectors for full attention: facts, live blocks, projections."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from hitcurve.lru import Facts, LruStack, lru_facts, whole_blocks
from hitcurve.lru.hit_curve import HitCurve
from hitcurve.trace import Trace
from hitcurve.trace.prefix_hash import prefix_hash
from tests.naive.lru import naive_hits
from tests.naive.mersenne import Mersenne64


def facts_of(keys, times_ns, lengths=None, block_size=4):
    """Ids as they are, at times in nanoseconds."""
    seconds = [Fraction(t, 10**9) for t in times_ns]
    trace = Trace.of_requests(keys, times=seconds, block_size=block_size, identity="raw", input_tokens=lengths)
    return lru_facts(trace)


def pairs(curve):
    return [list(segment) for segment in curve]


def capacity_named(name):
    return None if name == "inf" else int(name)


def test_full_rle(litehit):
    for vector in litehit("full_rle"):
        requests, expected = vector["requests"], vector["expected"]
        keys, times = [r["keys"] for r in requests], [r["timestamp"] for r in requests]
        ttl_ns = vector["ttl"] or None
        ttl = None if ttl_ns is None else Fraction(ttl_ns, 10**9)
        facts = facts_of(keys, times, [r["len"] for r in requests], vector["block_size"])
        for method in {facts.method, "block"}:
            facts = lru_facts(facts.trace, method)
            curves = [pairs(facts.hit_curve(r, ttl)) for r in range(len(requests))]
            assert curves == expected["hit_curves_rle"], vector["name"]
            for name, wanted in expected.get("projections_by_capacity_blocks", {}).items():
                capacity = capacity_named(name)
                hits = facts.hits_per_request(capacity, ttl)
                assert hits.tolist() == wanted["hit_blocks"], vector["name"]
                point = next(facts.points([capacity], [ttl]).rows())
                assert point["hit_blocks"] == facts.hit_blocks(capacity, ttl) == wanted["total_hit_blocks"]
                assert point["hit_tokens"] == facts.hit_tokens(capacity, ttl) == wanted["total_hit_tokens"]
                assert point["token_hit_ratio"] == pytest.approx(wanted["hit_rate"], abs=1e-15)
                assert facts.trace.n_input_tokens == wanted["total_input_tokens"]
        stack = LruStack("raw")
        for request, unique in zip(requests, expected["unique_blocks_after"], strict=True):
            stack.process(request["keys"], request["timestamp"])
            assert stack.live_blocks(request["timestamp"], ttl_ns) == unique, vector["name"]


def test_worked_example_end_to_end(litehit):
    vector = next(v for v in litehit("full_rle") if v["name"] == "seed_end_to_end")
    keys = [r["keys"] for r in vector["requests"]]
    trace = Trace.of_requests(keys, block_size=4, input_tokens=[r["len"] for r in vector["requests"]])
    facts = lru_facts(trace)
    assert facts.method == "run"
    capacities = [whole_blocks(2048, 1024), whole_blocks(3072, 1024), None]
    table = facts.points(capacities, block_bytes=1024)
    assert table["hit_blocks"] == [7, 7, 8] and table["hit_tokens"] == [28, 28, 32]
    assert table["capacity_bytes"] == [2048, 3072, None]
    assert facts.trace.n_input_tokens == 54
    assert [round(r, 4) for r in table["token_hit_ratio"]] == [0.5185, 0.5185, 0.5926]
    assert sum(naive_hits(keys, capacity=2, tail_first=False)) == 2


def one_request(curve):
    """Facts of one request, given its curve."""
    trace = Trace.of_requests([range(sum(length for _, length in curve))])
    start, length = (np.array([s[i] for s in curve], np.int64) for i in (0, 1))
    return Facts(trace, "run", True, np.array([0, len(curve)]), start, length, np.zeros(len(curve), np.int64))


def test_projector(litehit):
    for vector in litehit("projector"):
        facts, expected = one_request(vector["curve_rle"]), vector["expected"]
        for name, hits in expected.get("hits_by_capacity_blocks", {}).items():
            assert facts.hit_blocks(capacity_named(name)) == hits
            assert (
                HitCurve.of(facts.start, facts.length).at(np.array([int(name) if name != "inf" else 2**63 - 1])) == hits
            )
        for name, hits in expected.get("hits_by_capacity_bytes", {}).items():
            assert facts.hit_blocks(whole_blocks(int(name), vector["block_bytes"])) == hits


@pytest.fixture(scope="module")
def generated(litehit):
    return {v["name"]: v["expected"] for v in litehit("full_rle_generated")}


def test_no_key_is_ever_dropped(generated):
    keys = [[key] for key in range(10_000)] + [[0]]
    facts = facts_of(keys, [0] * len(keys))
    expected = generated["no_capacity_pruning"]
    assert facts.trace.n_blocks == expected["unique_blocks_after_first_10000"]
    for method in ("run", "block"):
        assert pairs(lru_facts(facts.trace, method).hit_curve(10_000)) == expected["last_hit_curve_rle"]


def test_hot_ring(generated):
    keys = [[i % 7] for i in range(20_000)] + [[(20_000 - 7) % 7]]
    facts = facts_of(keys, [0] * len(keys))
    expected = generated["compaction_hot_ring_of_7"]
    assert facts.trace.n_blocks == expected["unique_blocks"]
    for method in ("run", "block"):
        assert pairs(lru_facts(facts.trace, method).hit_curve(20_000)) == expected["last_hit_curve_rle"]


def test_expired_keys_do_not_raise_thresholds(generated):
    keys = [[1_000_000 + r * 100 + i for i in range(10)] for r in range(600)] + [[1, 2, 3], [1_000_000], [1, 2, 3]]
    times = [0] * 600 + [5000, 5001, 5001]
    expected = generated["ttl_compaction_drops_expired"]
    ttl = Fraction(1000, 10**9)
    facts = facts_of(keys, times)
    assert pairs(facts.hit_curve(601, ttl)) == expected["curve_602"]
    assert pairs(facts.hit_curve(602, ttl)) == expected["curve_603"]
    stack = LruStack("raw")
    live = []
    for request, time in zip(keys, times, strict=True):
        stack.process(request, time)
        live.append(stack.live_blocks(time, 1000))
    assert live[599] == expected["unique_after_600"] and live[600] == expected["unique_after_601"]


def test_one_key_at_many_times(generated):
    times = [*range(1, 10_002), 1_000_010_001]
    expected = generated["ttl_compaction_collapses_epochs"]
    facts = facts_of([[7]] * len(times), times)
    assert pairs(facts.hit_curve(10_000, 1)) == expected["curve_at_10001"]
    assert pairs(facts.hit_curve(10_001, 1)) == expected["curve_at_1000010001"]
    assert facts.trace.n_blocks == expected["unique"]


def test_random_chains(generated):
    expected = generated["random_contract_trace_seed_20260722"]
    draw = Mersenne64(20260722)
    raw = [[next(draw) % 3 for _ in range(1 + next(draw) % 10)] for _ in range(1500)]
    keys = [prefix_hash(np.array(request, np.int64)).tolist() for request in raw]
    assert keys[0] == expected["first_request_keys"]
    by_path, by_key = Trace.of_requests(raw), Trace.of_requests(keys, identity="raw")
    assert by_path.n_block_refs == expected["total_blocks"]
    assert by_path.n_blocks == by_key.n_blocks == expected["unique_blocks"]
    for facts in (lru_facts(by_path), lru_facts(by_key), lru_facts(by_key, "block")):
        for name, hits in expected["total_hit_blocks"].items():
            assert facts.hit_blocks(capacity_named(name)) == hits
        assert sum(len(facts.hit_curve(r)) for r in range(1500)) == expected["segments_total"]


def test_random_ids_without_a_tree(generated):
    expected = generated["random_noncontract_trace_seed_20260713"]
    draw = Mersenne64(20260713)
    keys = [[next(draw) % 17 for _ in range(next(draw) % 12)] for _ in range(1000)]
    facts = facts_of(keys, [0] * 1000)
    assert not facts.exact
    for name, hits in expected["projected_total_hit_blocks"].items():
        capacity = capacity_named(name)
        true = naive_hits(keys, capacity=capacity)
        assert facts.hit_blocks(capacity) == hits
        assert sum(true) == expected["true_lru_total_hit_blocks"][name]
        assert np.all(facts.hits_per_request(capacity) <= true)
