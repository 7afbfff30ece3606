"""What letting only leaves go means: no block without its parent, no holes, and any order of access is the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.simulation import Prepared, Simulation
from hitcurve.trace import Labels, Trace
from tests.policies.runs import run, same
from tests.policies.trees import conversations, in_context, raw_requests, tree_requests

LEAF = ("leaf_lru", "leaf_lfu", "leaf_fifo", "leaf_mru", "leaf_slru", "leaf_priority", "leaf_belady", "trtllm_priority")
EVERY = pytest.mark.parametrize("name", LEAF)


@EVERY
@settings(max_examples=40, deadline=None)
@given(
    requests=tree_requests,
    capacity=st.integers(1, 40),
    pin=st.booleans(),
    order=st.sampled_from(["deepest-first", "prefix"]),
)
def test_no_child_without_its_parent_and_no_holes(name, requests, capacity, pin, order):
    trace = in_context(requests, capacity)[0]
    simulation = run(trace, name, capacity, pin=pin, replay_order=order, verify=True)  # check() after every request
    frame = simulation.frame
    assert np.array_equal(frame.hits, frame.prefix_hits)
    assert frame.holes.max(initial=0) <= 1
    parent, resident = frame.context.parent, np.flatnonzero(frame.resident)
    assert all(parent[block] < 0 or frame.resident[parent[block]] for block in resident)


@EVERY
@pytest.mark.parametrize("capacity", [7, 30, 31, 60, 150])
def test_no_holes_in_conversations(name, capacity):
    trace = in_context(conversations(seed=capacity, n=200), 4)[0]
    for pin in (True, False):
        frame = run(trace, name, capacity, pin=pin, verify=True).frame
        assert np.array_equal(frame.hits, frame.prefix_hits) and frame.evictions.sum()


@EVERY
@settings(max_examples=30, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans())
def test_the_order_of_access_does_not_matter(name, requests, capacity, pin):
    prepared = Prepared(in_context(requests, capacity)[0])
    same(*(run(prepared, name, capacity, pin=pin, replay_order=order) for order in ("deepest-first", "prefix")))


@settings(max_examples=150, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans())
def test_leaf_lru_is_lru(requests, capacity, pin):
    prepared = Prepared(Trace.of_requests(requests))
    one, other = (run(prepared, name, capacity, pin=pin) for name in ("leaf_lru", "lru"))
    same(one, other)
    assert np.array_equal(one.frame.self_evictions, other.frame.self_evictions)


@pytest.mark.parametrize("capacity", [30, 45, 80, 200])
def test_leaf_lru_is_lru_on_conversations(capacity):
    prepared = Prepared(Trace.of_requests(conversations(seed=2, n=400)))
    same(*(run(prepared, name, capacity) for name in ("leaf_lru", "lru")))


@settings(max_examples=60, deadline=None)
@given(requests=raw_requests, capacity=st.integers(1, 12), pin=st.booleans())
def test_where_ids_form_no_tree_every_block_is_a_leaf(requests, capacity, pin):
    prepared = Prepared(Trace.of_requests([*requests, [1, 2], [2, 1]], identity="raw"))
    assert not prepared.trace.contract
    same(*(run(prepared, name, capacity, pin=pin) for name in ("leaf_lru", "lru")))


def test_lru_keeps_children_without_parents_where_the_root_is_accessed_first():
    """What leaf policies are for: the same requests leave a hole in LRU, and none in leaf LRU."""
    trace = Trace.of_requests([["a", "b", "c"], ["x"], ["a", "b", "c"]])
    lru, leaf = (run(trace, name, 3, replay_order="prefix").result() for name in ("lru", "leaf_lru"))
    assert (lru.n_block_hits, lru.prefix_hit_blocks) == (2, 0)
    assert (leaf.n_block_hits, leaf.prefix_hit_blocks) == (2, 2)


@pytest.mark.parametrize(
    ("name", "gone"), [("leaf_lru", "b"), ("leaf_mru", "c"), ("leaf_fifo", "b"), ("leaf_lfu", "c"), ("leaf_slru", "c")]
)
def test_who_goes(name, gone):
    """Full with a, b and c: d takes the place of b, which came first and is less recent, or of c, used less often."""
    requests = [["a", "b"], ["a", "b"], ["a", "c"], ["a", "d"]]
    trace = Trace.of_requests(requests)
    frame = run(trace, name, 3).frame
    block = {"b": 1, "c": 2}[gone]
    assert np.flatnonzero(frame.resident == 0).tolist() == [block]


def test_a_priority_outlives_what_is_more_recent():
    """The second turn of a session makes its path dear; a newer first turn goes before it."""
    requests, sessions = [["a"], ["a", "b"], ["x"], ["y"]], ["s", "s", "t", "u"]
    trace = Trace.of_requests(requests, session=Labels.of(sessions))
    frame = run(trace, "leaf_priority", 3).frame
    assert np.flatnonzero(frame.resident).tolist() == [0, 1, 3]
    plain = Simulation(Trace.of_requests(requests), "leaf_priority", 3).run()
    assert np.flatnonzero(plain.frame.resident).tolist() == [0, 2, 3]
    assert "this is leaf_lru" in " ".join(plain.result().notes)


def test_the_front_of_prompts_outlives_their_ends():
    """a, the front of an old prompt, stays where y, the end of a newer one, goes; without a front it goes first."""
    trace = Trace.of_requests([["a", "b"], ["x", "y"], ["u"], ["a"]])
    assert run(trace, "trtllm_priority", 3, params={"front": 1}).frame.hits.tolist() == [0, 0, 0, 1]
    for plain in ("leaf_lru", "trtllm_priority"):
        params = {"front": 0} if plain == "trtllm_priority" else {}
        assert run(trace, plain, 3, params=params).frame.hits.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("seconds", "gone"), [(0, "q"), (12, "x"), (12.5, "q")])
def test_a_priority_lapses_and_counts_as_a_use(seconds, gone):
    """x is dear from 0 s on.  Lapsed when q is used at 12 s, it is older than q; lapsed at 13 s alone, it is newer."""
    trace = Trace.of_requests([["x"], ["p", "q"], ["p", "q"], ["c"]], times=[0, 1, 12, 13])
    frame = run(trace, "trtllm_priority", 3, params={"front": 1, "seconds": seconds}, verify=True).frame
    assert np.flatnonzero(frame.resident == 0).tolist() == [{"x": 0, "q": 2}[gone]]
