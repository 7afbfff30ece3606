"""Facts of hybrid models: hits at bytes and times to live, curves, sums over groups, other charges, no states."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.errors import BadParameter, UnknownName, UnsupportedTrace
from hitcurve.lru import HybridFacts, hybrid_facts, lru_facts, whole_blocks
from hitcurve.trace import Trace
from tests.lru.test_hybrid import CHARGES, STEPS
from tests.lru.test_projection import BLOCK, labelled, slow_counts
from tests.lru.traces import any_requests, tree_requests, with_times
from tests.naive.hybrid import NaiveHybridCache
from tests.naive.lru import paths


def facts_of(trace, charges, step, method=None):
    return hybrid_facts(trace, full_bytes=charges[0], linear_bytes=charges[1], linear_step_blocks=step, method=method)


def worthwhile(facts):
    """Capacities around every threshold of some requests."""
    room = np.unique(facts.byte_points.capacity_bytes).tolist()
    return sorted({0, *(room[i] + d for i in range(0, len(room), 1 + len(room) // 6) for d in (-1, 0))})


@settings(max_examples=80, deadline=None)
@given(labelled(), CHARGES, STEPS)
def test_points_curve_and_sums_agree_with_caches_block_by_block(drawn, charges, step):
    trace, requests, times, tokens, names, turns = drawn
    facts = facts_of(trace, charges, step)
    capacities = [*worthwhile(facts), None]
    groupings = {"turn": [None if turn < 0 else turn for turn in turns]} | ({"session": names} if trace.session else {})
    for ttl in (None, 2):
        caches = [NaiveHybridCache(*charges, step, capacity, ttl) for capacity in capacities]
        hits = [[c.request(b, t) for b, t in zip(paths(requests), times, strict=True)] for c in caches]
        assert [facts.hits_per_request(c, ttl).tolist() for c in capacities] == hits
        wanted = [slow_counts(trace, requests, tokens, each, range(len(requests))) for each in hits]
        rows = list(facts.points(capacities, [ttl]).rows())
        assert [(row["hit_blocks"], row["hit_tokens"], row["tail_hit_tokens"]) for row in rows] == wanted
        assert [row["capacity_bytes"] for row in rows] == capacities
        assert all("capacity_blocks" not in row and row["ttl_seconds"] == ttl for row in rows)
        for by, labels in groupings.items():
            for row in facts.points(capacities, [ttl], by=by).rows():
                own = [r for r, label in enumerate(labels) if label == row[by]]
                sums = slow_counts(trace, requests, tokens, hits[capacities.index(row["capacity_bytes"])], own)
                assert (row["hit_blocks"], row["hit_tokens"], row["tail_hit_tokens"]) == sums
        steps = list(facts.curve(ttl).rows())
        for capacity, want in zip(capacities, wanted, strict=True):
            below = [row for row in steps if capacity is None or row["capacity_bytes"] <= capacity]
            found = below[-1] if below else dict.fromkeys(("hit_blocks", "hit_tokens", "tail_hit_tokens"), 0)
            assert (found["hit_blocks"], found["hit_tokens"], found["tail_hit_tokens"]) == want
            assert (facts.hit_tokens(capacity, ttl), facts.tail_hit_tokens(capacity, ttl)) == want[1:]
        assert all(a["hit_blocks"] < b["hit_blocks"] for a, b in pairwise(steps))


@settings(max_examples=100, deadline=None)
@given(with_times(tree_requests(most=16)), CHARGES, STEPS)
def test_the_curve_finds_the_smallest_capacity(drawn, charges, step):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times)
    facts = facts_of(trace, charges, step)
    curve = facts.block_curve()
    capacities, hits = curve.steps()
    assert curve.most == facts.hit_blocks() == (hits[-1] if len(hits) else 0)
    asked = np.array([c + d for c in capacities for d in (1, 0, -1)], np.int64)
    assert curve.at(asked).tolist() == [facts.hit_blocks(int(c)) for c in asked]
    assert curve.along(capacities).tolist() == hits.tolist()
    for wanted in range(curve.most + 2):
        enough = [int(c) for c, h in zip(capacities, hits, strict=True) if h >= wanted]
        assert curve.smallest(wanted) == (0 if wanted == 0 else enough[0] if enough else None)
    if trace.n_block_refs:
        ratio = Fraction(curve.most, 2 * trace.n_block_refs)
        assert facts.capacity_for(ratio, of="blocks") == curve.smallest(-(-curve.most // 2))


@settings(max_examples=60, deadline=None)
@given(with_times(tree_requests()), CHARGES, CHARGES, STEPS)
def test_other_charges_take_no_replay(drawn, charges, others, step):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times)
    again, fresh = facts_of(trace, charges, step).charged(*others), facts_of(trace, others, step)
    for r in range(len(requests)):
        assert again.request_points(r) == fresh.request_points(r)
        assert again.request_points(r, 2) == [p for p in fresh.request_points(r) if p[2] < 2 * 10**9]


@settings(max_examples=100, deadline=None)
@given(with_times(tree_requests() | any_requests()), st.booleans(), st.sampled_from([1, 10]), STEPS)
def test_without_states_the_facts_are_those_of_full_attention(drawn, tree, full, step):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times, identity="prefix" if tree else "raw")
    bytes_, blocks = facts_of(trace, (full, 0), step), lru_facts(trace)
    assert (bytes_.exact, bytes_.method) == (blocks.exact, blocks.method)
    for ttl in (None, 2):
        for capacity in (*range(0, full * (trace.n_blocks + 2), 1 + full // 3), None):
            in_blocks = None if capacity is None else whole_blocks(capacity, full)
            assert np.array_equal(bytes_.hits_per_request(capacity, ttl), blocks.hits_per_request(in_blocks, ttl))
    for r in range(len(requests)):
        singles = [(start + k, age) for start, length, age in blocks.segments(r) for k in range(length)]
        wanted = [(full * room, hits + 1, age) for hits, (room, age) in enumerate(singles)]
        assert bytes_.request_points(r) == wanted


def test_the_step_in_tokens():
    trace = Trace.of_requests([list(range(9))] * 2, block_size=BLOCK)
    by_tokens = hybrid_facts(trace, full_bytes=8, linear_bytes=4, linear_step_tokens=3 * BLOCK)
    by_blocks = hybrid_facts(trace, full_bytes=8, linear_bytes=4, linear_step_blocks=3)
    assert by_tokens.request_points(1) == by_blocks.request_points(1) and len(by_blocks.request_points(1)) == 3
    each = hybrid_facts(trace, full_bytes=8, linear_bytes=4, linear_step_tokens=0)
    assert [p[1] for p in each.request_points(1)] == list(range(1, 10))
    assert each.charges.step == 1


def test_what_no_model_has_is_refused():
    trace = Trace.of_requests([[1, 2]], block_size=16)
    good = {"full_bytes": 8, "linear_bytes": 4, "linear_step_tokens": 32}
    for bad in (
        {"full_bytes": 0},
        {"full_bytes": 1.5},
        {"full_bytes": True},
        {"linear_bytes": -1},
        {"linear_bytes": None},
        {"linear_step_tokens": 8},
        {"linear_step_tokens": -16},
        {"linear_step_tokens": 32.0},
        {"linear_step_tokens": "32"},
        {"linear_step_tokens": None, "linear_step_blocks": -1},
        {"linear_step_tokens": None, "linear_step_blocks": True},
        {"linear_step_tokens": None},
        {"linear_step_blocks": 2},
        {"full_bytes": 2**62, "linear_bytes": 2**62},
    ):
        with pytest.raises(BadParameter):
            hybrid_facts(trace, **(good | bad))
    with pytest.raises(UnknownName):
        hybrid_facts(trace, **good, method="fast")
    with pytest.raises(UnsupportedTrace):
        hybrid_facts(Trace.of_requests([[1]]), **good)
    with pytest.raises(UnsupportedTrace):
        hybrid_facts(Trace.of_requests([[1, 1]], identity="raw", block_size=16), **good, method="run")
    facts = hybrid_facts(trace, **good)
    with pytest.raises(BadParameter, match="bytes >= 0"):
        facts.hit_blocks(-1)
    for charges in ((8, 0), (0, 4)):
        with pytest.raises(BadParameter):
            facts.charged(*charges)


def test_a_step_beyond_all_requests_leaves_the_tails():
    requests = [[1, 2, 3], [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]
    trace = Trace.of_requests(requests)
    for full in (8, 2**58):
        far, farther = (facts_of(trace, (full, 4), step) for step in (7, 10**40))
        assert [far.request_points(r) for r in range(3)] == [farther.request_points(r) for r in range(3)]
        assert [p[1] for p in far.request_points(2)] == [4]  # what ended at 3 is older
        assert farther.hit_blocks() == 3 + 4
        assert farther.block_curve().steps()[1].tolist() == far.block_curve().steps()[1].tolist()
        assert farther.capacity_for(Fraction(1, 13), of="blocks") == far.capacity_for(Fraction(1, 13), of="blocks")


def test_without_a_tree_facts_are_exact_and_say_so():
    trace = Trace.of_requests([[1, 1, 2], [2, 1], [1, 1, 2]], identity="raw")
    facts = facts_of(trace, (8, 4), 2)
    assert facts.method == "block" and facts.exact and not lru_facts(trace).exact


def test_it_says_what_was_counted():
    trace = Trace.of_requests([[1, 2, 3]] * 2, block_size=16, input_tokens=[50, 50])
    facts = hc.hybrid_facts(trace, full_bytes=8, linear_bytes=4, linear_step_tokens=32)
    assert isinstance(facts, HybridFacts)
    assert {"full_bytes": 8, "linear_bytes": 4, "linear_step_blocks": 2}.items() <= facts.provenance().items()
    assert "state" in facts.provenance()["hit"]
    assert "2 points" in repr(facts) and "<table" in facts._repr_html_()
    assert list(facts.summary().columns) == ["token_hit_ratio", "capacity_bytes"]
    assert facts.capacity_for(Fraction(96, 100), of="tokens") is None
    assert facts.capacity_for(Fraction(32, 100)) == 8 + 8 + 4
