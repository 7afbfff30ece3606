"""Run level = block level = naive caches, for every capacity and several times to live."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import UnknownName, UnsupportedTrace
from hitcurve.lru import lru_facts
from hitcurve.trace import Trace
from tests.lru.traces import SECOND, any_requests, tree_requests, with_times
from tests.naive.lru import naive_hits, naive_segments, paths

TTLS = (None, 0, 1, 2, 5)


@settings(max_examples=600, deadline=None)
@given(with_times(tree_requests()))
def test_run_level_block_level_and_naive_caches_agree_on_trees(drawn):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times)
    run, block = lru_facts(trace, "run"), lru_facts(trace, "block")
    assert run.exact and block.exact
    blocks = paths(requests)
    expected = naive_segments(blocks, [t * SECOND for t in times])
    assert [run.segments(r) for r in range(len(requests))] == expected
    assert [block.segments(r) for r in range(len(requests))] == expected
    for ttl in TTLS:
        for capacity in [*range(trace.n_blocks + 2), None]:
            assert run.hits_per_request(capacity, ttl).tolist() == naive_hits(blocks, times, capacity, ttl)


@settings(max_examples=150, deadline=None)
@given(with_times(tree_requests(most=40, depth=20, width=2)))
def test_run_level_is_block_level_on_larger_trees(drawn):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times)
    run, block = lru_facts(trace, "run"), lru_facts(trace, "block")
    for column in ("segment_offsets", "start", "length", "age_ns"):
        assert getattr(run, column).tolist() == getattr(block, column).tolist()


@settings(max_examples=300, deadline=None)
@given(with_times(any_requests()))
def test_without_a_tree_facts_are_a_lower_bound_and_exact_at_infinity(drawn):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times, identity="raw")
    facts = lru_facts(trace)
    assert facts.exact == trace.contract
    assert facts.method == ("run" if trace.contract else "block")
    assert [facts.segments(r) for r in range(len(requests))] == naive_segments(requests, [t * SECOND for t in times])
    for ttl in TTLS:
        assert facts.hits_per_request(None, ttl).tolist() == naive_hits(requests, times, None, ttl)
        for capacity in range(trace.n_blocks + 2):
            lower, true = facts.hits_per_request(capacity, ttl), naive_hits(requests, times, capacity, ttl)
            assert all(a <= b for a, b in zip(lower.tolist(), true, strict=True))
            if facts.exact:
                assert lower.tolist() == true


@settings(max_examples=150, deadline=None)
@given(tree_requests(most=20, depth=10), st.integers(0, 5))
def test_interleaved_namespaces_stay_apart(requests, shift):
    """Requests of two tenants are two trees in one order."""
    doubled = [[("t", r % 2), *request] for r, request in enumerate(requests)]
    flat = [[str(block) for block in request] for request in doubled]
    facts = lru_facts(Trace.of_requests(flat))
    assert facts.hits_per_request(shift).tolist() == naive_hits(paths(flat), None, shift)


def test_a_trace_without_requests_has_no_hits():
    facts = lru_facts(Trace.of_requests([]))
    assert facts.hit_blocks() == 0 and len(facts.curve()) == 0 and facts.capacity_for(0.5, "blocks") == 0
    assert lru_facts(Trace.of_requests([[], []])).hit_blocks() == 0


def test_methods_that_cannot_be():
    loop = Trace.of_requests([[1, 2], [2, 1]], identity="raw")
    with pytest.raises(UnsupportedTrace, match="block"):
        lru_facts(loop, "run")
    with pytest.raises(UnknownName, match="'run'"):
        lru_facts(loop, "runs")
    assert "lower bound" in lru_facts(loop).curve().provenance["hits"]
    assert "a lower bound" in repr(lru_facts(loop))


def test_committing_the_root_first_would_lose_the_value_of_the_prefix():
    requests = paths(["ABC", "ABD", "ABC", "AE", "AE"])
    assert sum(naive_hits(requests, capacity=2)) == 7
    assert sum(naive_hits(requests, capacity=2, tail_first=False)) == 2
