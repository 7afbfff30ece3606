"""One request at a time gives what a whole replay gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from hitcurve.lru import LruStack, lru_facts
from hitcurve.trace import Trace
from tests.lru.traces import SECOND, any_requests, tree_requests, with_times
from tests.naive.lru import naive_segments, paths


@settings(max_examples=200, deadline=None)
@given(with_times(tree_requests(most=20, depth=10)))
def test_incremental_is_batch(drawn):
    requests, times = drawn
    facts = lru_facts(Trace.of_requests(requests, times=times))
    stack = LruStack()
    for r, (request, time) in enumerate(zip(requests, times, strict=True)):
        assert stack.process(request, time * SECOND) == facts.segments(r)
    assert stack.n_blocks == facts.trace.n_blocks


@settings(max_examples=200, deadline=None)
@given(with_times(any_requests()))
def test_incremental_is_batch_without_a_tree(drawn):
    requests, times = drawn
    facts = lru_facts(Trace.of_requests(requests, times=times, identity="raw"), "block")
    stack = LruStack("raw")
    for r, (request, time) in enumerate(zip(requests, times, strict=True)):
        assert stack.process(request, time * SECOND) == facts.segments(r)


@pytest.mark.parametrize("identity", ["prefix", "raw"])
def test_incremental_is_batch_past_all_growing_and_forgetting(identity):
    """Many short requests over few paths: runs die, rows are used again, positions are numbered anew."""
    requests = [[i % 7, *range(i * i % 11, i * i % 11 + i % 5)] for i in range(9000)]
    requests += [[i % 7] + [100 + i] * (i % 3) for i in range(2000)]
    facts = lru_facts(Trace.of_requests(requests, identity=identity), "run" if identity == "prefix" else "block")
    stack = LruStack(identity)
    for r, request in enumerate(requests):
        assert stack.process(request, r * SECOND) == facts.segments(r)


def test_state_is_bounded_by_the_requests_that_still_own_blocks():
    stack = LruStack()
    for r in range(20_000):
        stack.process(["a", "b", r % 3], r)
    assert len(stack._order._requests.arrival_ns) == 256


@settings(max_examples=100, deadline=None)
@given(with_times(tree_requests()))
def test_live_blocks_are_those_touched_within_the_ttl(drawn):
    requests, times = drawn
    for identity, blocks in (("prefix", paths(requests)), ("raw", requests)):
        stack = LruStack(identity)
        touched = {}
        for raw, request, time in zip(requests, blocks, times, strict=True):
            stack.process(raw, time)
            touched |= dict.fromkeys(request, time)
            for ttl in (0, 1, 3):
                assert stack.live_blocks(time, ttl) == sum(time - t < ttl for t in touched.values())
            assert stack.live_blocks(time) == len(touched)


def test_a_clock_that_steps_back_stands_still():
    stack = LruStack()
    stack.process("ab", 100)
    assert stack.process("ab", 40) == [(1, 2, 0)]
    assert stack.process("ab", 140) == [(1, 2, 40)]


def test_namespaces_never_meet():
    stack = LruStack()
    stack.process("ab", 0, namespace="x")
    assert stack.process("ab", 1, namespace="y") == []
    assert stack.process("ab", 2, namespace="x") == [(3, 2, 2)]


@settings(max_examples=100, deadline=None)
@given(with_times(tree_requests()))
def test_ids_of_any_kind(drawn):
    requests, times = drawn
    kinds = [-1, 2**64, "0", b"0", 0]
    odd = [[kinds[raw % 5] for raw in request] for request in requests]
    stack = LruStack()
    found = [stack.process(request, time) for request, time in zip(odd, times, strict=True)]
    assert found == naive_segments(paths(odd), times)
