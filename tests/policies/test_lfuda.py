"""Ages that have grown large are scaled down, and nothing else changes."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.policies import policy_named
from hitcurve.policies.lfuda import LARGEST
from hitcurve.simulation import new_frame
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache
from tests.policies.trees import in_context, tree_requests


@settings(max_examples=100, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 24), pin=st.booleans(), age=st.sampled_from([LARGEST, 2.0**511]))
def test_equals_its_twin_from_a_large_age_on(requests, capacity, pin, age):
    trace, context = in_context(requests, 0)
    policy, n = policy_named("lfuda"), trace.n_requests
    frame = new_frame(trace, capacity, np.ones(10), pin=pin)
    state = policy.new_state(trace.n_blocks, capacity, policy.with_params(), 0)
    twin = twin_named("lfuda", capacity, policy.with_params(), 0)
    state.age[0] = twin.age = age
    for r in range(n):
        assert policy.replay(frame, state, r, r + 1) == r + 1
        policy.check(state, frame)
    expected = NaiveCache(twin, capacity, [trace.blocks(r).tolist() for r in range(n)], pin=pin, context=context).run()
    assert frame.hits.tolist() == expected.hits
    assert state.age[0] == twin.age


def test_the_age_of_a_cache_that_turns_over_again_and_again_stays_a_number():
    trace, _ = in_context([[block] for k in range(1, 2_000) for block in (k, k - 1, k)], 0)
    policy = policy_named("lfuda")
    frame = new_frame(trace, 2, np.ones(1), pin=True)
    state = policy.new_state(trace.n_blocks, 2, policy.with_params(), 0)
    ages = []
    for r in range(trace.n_requests):
        policy.replay(frame, state, r, r + 1)
        ages.append(float(state.age[0]))
    assert max(ages) < 8 * LARGEST
    assert sum(after < before for before, after in pairwise(ages)) >= 3
