"""Nobody has more leading-prefix hits than Belady has block hits, and Belady among leaves has as many."""

from __future__ import annotations

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.simulation import Prepared, Simulation
from hitcurve.trace import Trace
from tests.policies.trees import conversations, tree_requests

small_trees = st.lists(st.lists(st.integers(0, 1), max_size=3), max_size=8)
orders = st.sampled_from(["deepest-first", "prefix"])


def resident(blocks, cache):
    return sum(block in cache for block in blocks)


def leading(blocks, cache):
    return next((k for k, block in enumerate(blocks) if block not in cache), len(blocks))


def most(requests, capacity, count):
    """The most hits that any choice of what stays can have: all choices after all requests are tried."""
    best = {frozenset(): 0}
    for blocks in requests:
        held = frozenset(blocks)
        if len(held) > capacity:
            continue
        following: dict[frozenset, int] = {}
        for cache, hits in best.items():
            others = cache - held
            room = min(len(others), capacity - len(held))
            for kept in chain.from_iterable(combinations(others, size) for size in range(room + 1)):
                state = held | set(kept)
                following[state] = max(following.get(state, 0), hits + count(blocks, cache))
        best = following
    return max(best.values())


def run(trace, name, capacity, **options):
    return Simulation(trace, name, capacity, **options).run().result()


@pytest.mark.parametrize("name", ["belady", "leaf_belady"])
@settings(max_examples=150, deadline=None)
@given(requests=small_trees, capacity=st.integers(1, 6), pin=st.booleans(), order=orders)
def test_equals_the_best_of_all_choices(name, requests, capacity, pin, order):
    trace = Trace.of_requests(requests)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    result = run(trace, name, capacity, pin=pin, replay_order=order)
    assert result.prefix_hit_blocks == result.n_block_hits
    assert result.prefix_hit_blocks == most(paths, capacity, leading) == most(paths, capacity, resident)


@settings(max_examples=100, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans(), order=orders)
def test_belady_keeps_prefixes_whole(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests))
    belady, leaf = (run(prepared, name, capacity, pin=pin, replay_order=order) for name in ("belady", "leaf_belady"))
    for column in ("n_block_hits", "prefix_hit_blocks", "n_eviction"):
        assert belady.requests[column].sum() == leaf.requests[column].sum(), column
    assert belady.requests["n_block_hits"].tolist() == belady.requests["prefix_hit_blocks"].tolist()


@pytest.mark.parametrize("capacity", [30, 31, 45, 100])
def test_bounds_everybody_on_conversations(capacity):
    prepared = Prepared(Trace.of_requests(conversations(seed=6, n=300)))
    bound = run(prepared, "leaf_belady", capacity).prefix_hit_blocks
    others = ("lru", "clock", "s3fifo", "arc", "gdsf", "belady_compute", "random", "leaf_lfu", "lmcache_lru")
    assert all(run(prepared, name, capacity).prefix_hit_blocks <= bound for name in others)
    assert run(prepared, "lru", capacity).prefix_hit_blocks < bound


def test_a_request_that_repeats_a_block_breaks_the_bound():
    """Four positions of one block are one block to keep: Belady keeps the one that is needed sooner, and hits less."""
    requests = [[1, 1, 1, 1], [2], [3], [2], [1, 1, 1, 1]]
    trace = Trace.of_requests(requests, identity="raw")
    assert not trace.contract
    assert run(trace, "belady", 2).n_block_hits == 1 < most(requests, 2, leading) == 4
