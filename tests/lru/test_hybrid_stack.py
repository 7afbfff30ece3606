"""Hybrid models as requests come: one at a time and in batches, over growing and forgetting; and what is counted."""

from __future__ import annotations

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter
from hitcurve.lru import HybridStack, LruStack, hybrid_facts
from hitcurve.trace import Trace
from tests.lru.test_hybrid import CHARGES, STEPS, long_requests
from tests.lru.traces import SECOND, any_requests, tree_requests, with_times
from tests.naive.hybrid import NaiveHybrid
from tests.naive.lru import paths


@settings(max_examples=150, deadline=None)
@given(with_times(tree_requests(most=20) | any_requests()), st.booleans(), CHARGES, STEPS, st.sampled_from([None, 2]))
def test_points_and_counters_are_those_of_the_recency_list(drawn, tree, charges, step, ttl):
    requests, times = drawn
    identity = "prefix" if tree else "raw"
    stack, twin = HybridStack(*charges, step, identity), NaiveHybrid(*charges, step, ttl)
    full_attention, expired = LruStack(identity), 0
    for raw, keys, time in zip(requests, paths(requests) if tree else requests, times, strict=True):
        points = stack.process(raw, time)
        assert [p for p in points if ttl is None or p[2] < ttl] == twin.process(keys, time)
        assert stack.exact
        expired += expired_on_arrival(full_attention.process(raw, time), ttl)
        for now in (time, time + 1):  # later: nothing arrives, but time goes by
            later = copy.deepcopy(twin)
            later.advance(now)
            assert stack.live_blocks(now, ttl) == later.unique_full()
            assert stack.resident_bytes(now, ttl) == later.resident_bytes()
            everything = sum(charges) * (stack.n_blocks + 1)
            for budget in range(0, everything, 1 + everything // 23):
                assert stack.blocks_within(budget, now, ttl) == later.full_within(budget)
            if tree:
                assert expired + stack.n_blocks - stack.live_blocks(now, ttl) == later.expired_full


def expired_on_arrival(segments, ttl):
    """Blocks that a request finds dead: each dies once between two touches, with states beside it or without."""
    return sum(length for _, length, age in segments if ttl is not None and age >= ttl)


@settings(max_examples=60, deadline=None)
@given(with_times(tree_requests(most=20) | any_requests()), st.booleans(), STEPS, st.data())
def test_batches_are_the_whole_replay(drawn, tree, step, data):
    requests, times = drawn
    identity = "prefix" if tree else "raw"
    trace = Trace.of_requests(requests, times=times, identity=identity)
    facts = hybrid_facts(trace, full_bytes=7, linear_bytes=3, linear_step_blocks=step)
    stack = HybridStack(7, 3, step, identity)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(requests)), max_size=4)) | {0, len(requests)})
    found = []
    for begin, end in pairwise(cuts):
        keys = np.array([key for request in requests[begin:end] for key in request], np.int64)
        offsets = np.cumsum([0, *map(len, requests[begin:end])])
        points = stack.process_batch(keys, offsets, np.array(times[begin:end], np.int64) * SECOND)
        rows = list(zip(*(column.tolist() for column in points[1:]), strict=True))
        found += [rows[a:b] for a, b in pairwise(points.offsets)]
    assert found == [facts.request_points(r) for r in range(len(requests))]


@pytest.mark.parametrize(("identity", "step"), [("prefix", 1), ("prefix", 3), ("prefix", 10**6), ("raw", 3)])
def test_one_at_a_time_past_all_growing_and_forgetting(identity, step):
    """Rows die and are used again, tail states outlive their runs, raw ids stop forming a tree half way."""
    requests = [[i % 7, *range(i * i % 11, i * i % 11 + i % 5)] for i in range(2500)]
    requests += [[i % 7] + [100 + i] * (i % 3) for i in range(500)] + long_requests(1, 500)[0]
    if identity == "raw":
        requests = [[10**6 + 1000 * (i % 50) + k for k in range(i % 9)] for i in range(1000)] + requests
    trace = Trace.of_requests(requests, identity=identity)
    facts = hybrid_facts(trace, full_bytes=7, linear_bytes=3, linear_step_blocks=step)
    assert facts.method == ("run" if identity == "prefix" else "block")
    stack = HybridStack(7, 3, step, identity)
    for r, request in enumerate(requests):
        assert stack.process(request, r * SECOND) == facts.request_points(r)


def test_state_is_bounded_by_the_requests_of_which_something_is_left():
    stack = HybridStack(7, 3, 4)
    for r in range(20_000):
        stack.process(["a", "b", r % 3], r)
    assert len(stack._order._requests.arrival_ns) == 256


@settings(max_examples=60, deadline=None)
@given(with_times(tree_requests() | any_requests()), st.booleans(), st.integers(1, 9))
def test_without_states_the_points_are_the_blocks_of_the_lru_stack(drawn, tree, full):
    requests, times = drawn
    identity = "prefix" if tree else "raw"
    stack, blocks = HybridStack(full, 0, 5, identity), LruStack(identity)
    for request, time in zip(requests, times, strict=True):
        singles = [(s + k, age) for s, length, age in blocks.process(request, time) for k in range(length)]
        assert stack.process(request, time) == [(full * room, n + 1, age) for n, (room, age) in enumerate(singles)]
        assert stack.exact == blocks.exact
        live = blocks.live_blocks(time, 2)
        assert (stack.live_blocks(time, 2), stack.resident_bytes(time, 2)) == (live, full * live)
        for budget in range(0, full * (live + 2), full // 2 + 1):
            assert stack.blocks_within(budget, time, 2) == min(budget // full, live)


def test_namespaces_never_meet_and_clocks_do_not_step_back():
    stack = HybridStack(10, 1, 1)
    stack.process("ab", 100, namespace="x")
    assert stack.process("ab", 101, namespace="y") == []
    assert stack.process("ab", 40, namespace="x") == [(33, 1, 1), (44, 2, 1)]


def test_what_no_model_has_is_refused():
    for bad in ((0, 1, 1), (1, -1, 1), (1, 1, -1), (1, 1, 1.5), (1.5, 1, 1), (1, 1, None), (1, 1, True)):
        with pytest.raises(BadParameter):
            HybridStack(*bad)
    stack = HybridStack(2**62, 2**61, 1)
    with pytest.raises(BadParameter, match=r"2\*\*63"):
        stack.process("ab", 0)
