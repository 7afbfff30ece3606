"""What engines' own structures have in common with plain policies, and where they part."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.simulation import Prepared, Simulation
from hitcurve.trace import Trace
from tests.policies.trees import raw_requests, tree_requests

ORDERS = ("deepest-first", "prefix")
MEASURED = ("hits", "prefix_hits", "evictions", "self_evictions", "overshoots", "releases", "holes", "resident")
orders = st.sampled_from(ORDERS)


def run(trace, name, capacity, **options):
    return Simulation(trace, name, capacity, kernel="blocks", **options).run()


def same(one, other):
    for column in MEASURED:
        assert np.array_equal(getattr(one.frame, column), getattr(other.frame, column)), column


@settings(max_examples=100, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans(), order=orders)
def test_vllm_is_lru_with_the_end_of_a_prompt_first_in_any_order(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests))
    same(
        run(prepared, "vllm_free_queue", capacity, pin=pin, replay_order=order), run(prepared, "lru", capacity, pin=pin)
    )


@settings(max_examples=50, deadline=None)
@given(requests=raw_requests, capacity=st.integers(1, 12), pin=st.booleans(), order=orders)
def test_vllm_is_lru_where_ids_are_taken_as_they_are(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests, identity="raw"))
    same(
        run(prepared, "vllm_free_queue", capacity, pin=pin, replay_order=order), run(prepared, "lru", capacity, pin=pin)
    )
