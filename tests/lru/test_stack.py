"""One request at a time gives what a whole replay gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.lru import LruStack, lru_facts
from hitcurve.trace import Trace
from tests.lru.traces import SECOND, any_requests, tree_requests, with_times
from tests.naive.lru import forms_a_tree, naive_segments, paths


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


def in_batches(stack, requests, times, cuts):
    """The facts of all requests, put into the stack in batches that end at ``cuts``."""
    found = []
    for begin, end in zip([0, *cuts], [*cuts, len(requests)], strict=True):
        batch = requests[begin:end]
        offsets = np.concatenate([[0], np.cumsum([len(request) for request in batch], dtype=np.int64)])
        keys = np.array([key for request in batch for key in request], np.int64)
        segments = stack.process_batch(keys, offsets, np.array(times[begin:end], np.int64))
        rows = list(zip(*(column.tolist() for column in segments[1:]), strict=True))
        found += [rows[a:b] for a, b in zip(segments.offsets[:-1], segments.offsets[1:], strict=True)]
    return found


@st.composite
def batches(draw, requests):
    drawn, times = draw(with_times(requests))
    return drawn, times, sorted(draw(st.lists(st.integers(0, len(drawn)), max_size=4)))


@settings(max_examples=300, deadline=None)
@given(batches(tree_requests(most=20, depth=10)))
def test_batches_of_paths(drawn):
    requests, times, cuts = drawn
    assert in_batches(LruStack(), requests, times, cuts) == naive_segments(paths(requests), times)


@settings(max_examples=400, deadline=None)
@given(batches(st.one_of(any_requests(), any_requests(most=8, depth=3, ids=30))))
def test_batches_of_ids_that_may_form_no_tree(drawn):
    """Facts are those of the block level from the first request on, whichever batch breaks the tree."""
    requests, times, cuts = drawn
    stack = LruStack("raw")
    assert in_batches(stack, requests, times, cuts) == naive_segments(requests, times)
    assert stack.exact == forms_a_tree(requests)
    assert stack.n_blocks == len({key for request in requests for key in request})


@settings(max_examples=200, deadline=None)
@given(with_times(tree_requests(most=20, depth=8)), st.data())
def test_a_tree_that_breaks_late(drawn, data):
    """Keys of whole paths, then some that stand elsewhere; among them 0, and those that codes stand for."""
    requests, times = drawn
    keys = {}
    chained = [[keys.setdefault(block, len(keys) - 2**63) for block in request] for request in paths(requests)]
    chained = [[0 if key == 3 - 2**63 else key for key in request] for request in chained]
    known = sorted({key for request in chained for key in request})
    if known:
        chained += data.draw(st.lists(st.lists(st.sampled_from(known), max_size=6), max_size=4))
    times = times + [10**9] * (len(chained) - len(times))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(chained)), max_size=4)))
    stack = LruStack("raw")
    assert in_batches(stack, chained, times, cuts) == naive_segments(chained, times)
    assert stack.exact == forms_a_tree(chained)


def test_namespaces_stay_apart_where_ids_form_no_tree():
    stack = LruStack("raw")
    requests = [("x", "ab"), ("y", "ba"), ("x", "abc"), ("y", "ba"), ("y", "aab"), ("x", "abc"), ("y", "ba")]
    named = [[(name, key) for key in keys] for name, keys in requests]
    found = [stack.process(keys, now, name) for now, (name, keys) in enumerate(requests)]
    assert found == naive_segments(named, list(range(len(requests))))
    assert not stack.exact


def test_many_unique_ids_break_the_tree_at_last():
    """The set of seen ids grows many times, and the order is unrolled with many requests in it."""
    requests = [[i // 50, *range(1000 + 40 * i, 1000 + 40 * i + i % 40)] for i in range(3000)]
    requests += [[5, 7], [59, 1001], [5, 7]]
    times = list(range(len(requests)))
    facts = lru_facts(Trace.of_requests(requests, times=times, identity="raw"), "block")
    found = in_batches(LruStack("raw"), requests, [time * SECOND for time in times], [100, 2000, 3000])
    assert found == [facts.segments(r) for r in range(len(requests))]
