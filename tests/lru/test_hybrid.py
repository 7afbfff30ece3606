"""Hybrid models: run level = block level = a list kept in recency order = one real cache a capacity."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.trace import Trace
from tests.lru.hybrid_kernels import kernel_points, same, single_points
from tests.lru.traces import SECOND, any_requests, tree_requests, with_times
from tests.naive.hybrid import NaiveHybrid, NaiveHybridCache, hits_at
from tests.naive.lru import paths

CHARGES = st.sampled_from([(48, 16), (7, 13), (10, 1), (1, 1)])
STEPS = st.sampled_from([1, 2, 3, 4, 6, 50])
TTLS = (1, 2, 4)


@settings(max_examples=300, deadline=None)
@given(with_times(tree_requests(most=16)), CHARGES, STEPS)
def test_both_cores_are_the_recency_list_on_trees(drawn, charges, step):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times)
    twin = NaiveHybrid(*charges, step)
    wanted = [twin.process(b, t * SECOND) for b, t in zip(paths(requests), times, strict=True)]
    by_run = kernel_points(trace, step, "run")
    assert single_points(by_run, step, *charges) == wanted
    assert same(by_run, kernel_points(trace, step, "block"))


@settings(max_examples=300, deadline=None)
@given(with_times(any_requests()), CHARGES, STEPS)
def test_the_block_level_is_the_recency_list_without_a_tree(drawn, charges, step):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times, identity="raw")
    twin = NaiveHybrid(*charges, step)
    wanted = [twin.process(b, t * SECOND) for b, t in zip(requests, times, strict=True)]
    assert single_points(kernel_points(trace, step, "block"), step, *charges) == wanted


@settings(max_examples=200, deadline=None)
@given(with_times(tree_requests() | any_requests()), st.booleans(), CHARGES, STEPS)
def test_points_are_the_hits_of_a_real_cache_of_any_size_and_ttl(drawn, tree, charges, step):
    """Also without a tree; and points cut at an age are those of a cache with that time to live."""
    requests, times = drawn
    blocks = paths(requests) if tree else requests
    trace = Trace.of_requests(requests, times=times, identity="prefix" if tree else "raw")
    points = single_points(kernel_points(trace, step, "block"), step, *charges)
    everything = sum(charges) * (trace.n_blocks + 1)
    capacities = sorted({0, *charges, *(p[0] + d for each in points for p in each for d in (-1, 0)), everything})
    for ttl in (None, *TTLS):
        living = [[p for p in each if ttl is None or p[2] < ttl * SECOND] for each in points]
        for capacity in (*capacities[:: 1 + len(capacities) // 12], None):
            cache = NaiveHybridCache(*charges, step, capacity, ttl)
            found = [cache.request(b, t) for b, t in zip(blocks, times, strict=True)]
            assert [hits_at(each, capacity) for each in living] == found


@settings(max_examples=200, deadline=None)
@given(with_times(tree_requests() | any_requests()), st.booleans(), CHARGES, STEPS, st.sampled_from(TTLS))
def test_points_cut_at_an_age_are_the_points_under_that_ttl(drawn, tree, charges, step, ttl):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times, identity="prefix" if tree else "raw")
    points = single_points(kernel_points(trace, step, "block"), step, *charges)
    twin = NaiveHybrid(*charges, step, ttl * SECOND)
    for each, keys, time in zip(points, paths(requests) if tree else requests, times, strict=True):
        living = [p for p in each if p[2] < ttl * SECOND]
        assert living == each[: len(living)], "those that live come first"
        assert living == twin.process(keys, time * SECOND)


@settings(max_examples=200, deadline=None)
@given(with_times(tree_requests() | any_requests()), st.booleans(), CHARGES, STEPS)
def test_room_and_hits_rise_along_a_request_and_ages_do_not_fall(drawn, tree, charges, step):
    requests, times = drawn
    trace = Trace.of_requests(requests, times=times, identity="prefix" if tree else "raw")
    for each in single_points(kernel_points(trace, step, "block"), step, *charges):
        for (room, hits, age), (next_room, next_hits, next_age) in pairwise(each):
            assert room < next_room and hits < next_hits and age <= next_age


def long_requests(seed: int, n: int) -> tuple[list[list[int]], list[int]]:
    """Sessions that grow, branch, stop short and come back, as agents make them."""
    draw = np.random.default_rng(seed)
    requests: list[list[int]] = [[0]]
    for _ in range(n):
        base = requests[draw.integers(max(0, len(requests) - 60), len(requests))]
        kept = base if draw.random() < 0.6 else base[: draw.integers(len(base) + 1)]
        requests.append((kept + draw.integers(0, 2, draw.integers(0, 12)).tolist())[-400:])
    return requests, np.cumsum(draw.integers(0, 3, n + 1)).tolist()


@pytest.mark.parametrize("step", [1, 3, 16, 10**6])
def test_run_level_is_block_level_on_long_requests(step):
    requests, times = long_requests(step, 1200)
    trace = Trace.of_requests(requests, times=times)
    assert same(kernel_points(trace, step, "run"), kernel_points(trace, step, "block"))


def test_positions_are_numbered_anew_without_a_trace():
    requests = [[i % 7, *range(i * i % 11, i * i % 11 + i % 5)] for i in range(3000)]
    trace = Trace.of_requests(requests)
    assert trace.n_block_refs > 2 * (2 * trace.n_blocks) + 4096
    assert same(kernel_points(trace, 2, "run"), kernel_points(trace, 2, "block"))
