"""The policy that lets blocks die by age hits what the exact curves with a time to live say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import UnsupportedTrace
from hitcurve.lru import lru_facts
from hitcurve.simulation import Prepared, Simulation
from hitcurve.trace import Trace
from tests.policies.trees import conversations, in_context, tree_requests

lifetimes = st.sampled_from([0, 0.25, 0.5, 1, 1.25, 40, 40.25, 81, 1000])


def run(trace, capacity, seconds, **options):
    return Simulation(trace, "ttl", capacity, params={"seconds": seconds}, **options).run()


@settings(max_examples=150, deadline=None)
@given(requests=tree_requests, seconds=lifetimes, pin=st.booleans(), seed=st.integers(0, 5))
def test_with_room_for_everything(requests, seconds, pin, seed):
    trace = in_context(requests, seed)[0]
    result = run(trace, None, seconds, pin=pin).result()
    assert result.prefix_hit_blocks == result.n_block_hits == lru_facts(trace).hit_blocks(capacity=None, ttl=seconds)
    assert result.n_eviction == 0


@settings(max_examples=150, deadline=None)
@given(requests=tree_requests, spare=st.integers(0, 12), seconds=lifetimes, pin=st.booleans(), seed=st.integers(0, 5))
def test_at_every_capacity_that_holds_the_longest_request(requests, spare, seconds, pin, seed):
    trace = in_context(requests, seed)[0]
    capacity = max(1, int(trace.request_blocks.max(initial=0))) + spare
    result = run(trace, capacity, seconds, pin=pin).result()
    facts = lru_facts(trace)
    assert result.prefix_hit_blocks == result.n_block_hits == facts.hit_blocks(capacity=capacity, ttl=seconds)


@pytest.mark.parametrize("seconds", [0.5, 41, 200])
def test_on_conversations(seconds):
    prepared = Prepared(in_context(conversations(seed=3, n=300), 3)[0])
    facts = lru_facts(prepared.trace)
    longest = int(prepared.trace.request_blocks.max())
    for capacity in (longest, 2 * longest, prepared.trace.n_blocks):
        simulation = run(prepared, capacity, seconds, verify=True)
        found = simulation.result().requests["prefix_hit_blocks"]
        assert found.sum() == facts.hit_blocks(capacity=capacity, ttl=seconds) > 0
    assert simulation.frame.releases.any() and not simulation.frame.evictions.any()


def test_the_boundary():
    """Used at 0 s: alive for a request before 10 s, dead at 10 s; and a use begins life anew."""
    trace = Trace.of_requests([["a", "b"], ["a"], ["a", "b"], ["a"]], times=[0, 9.999999999, 10, 19.9])
    assert run(trace, 5, 10).frame.hits.tolist() == [0, 1, 1, 1]
    assert run(trace, 5, 9.999999999).frame.hits.tolist() == [0, 0, 1, 1]
    died = run(trace, 5, 10)
    assert died.frame.releases.tolist() == [0, 0, 1, 0] and np.count_nonzero(died.frame.resident) == 2


def test_a_trace_without_times_is_refused():
    timeless = Trace.of_requests([["a"]]).with_definition(time_unit="none")
    with pytest.raises(UnsupportedTrace, match="ttl works with times of arrival"):
        Simulation(timeless, "ttl", 1)
