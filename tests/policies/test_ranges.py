"""The fast form of a policy equals its definition in every reported count of every request, on random traces."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve import read_trace
from hitcurve.kernels.bits import members
from hitcurve.policies import policy_named
from hitcurve.policies.ranges import NAMES, range_form
from hitcurve.policies.ranges.form import Size
from hitcurve.simulation import Prepared, Simulation
from hitcurve.trace import Trace

MEASURED = (
    "served", "hits", "full_hits", "prefix_hits", "full_prefix_hits", "saved", "holes", "longest_hole", "evictions",
    "self_evictions",
)  # fmt: skip

branching = st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=40)
shallow = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), max_size=60)


@st.composite
def sessions(draw):
    """Requests that go on from earlier ones: long common prefixes, long tails, some cut short."""
    requests: list[list[int]] = []
    for k in range(draw(st.integers(1, 25))):
        before = draw(st.sampled_from(requests)) if requests and draw(st.integers(0, 3)) else []
        kept = draw(st.integers(0, len(before)))
        requests.append(before[:kept] + list(range(100 * k, 100 * k + draw(st.integers(0, 70)))))
    return requests


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=300, deadline=None)
@given(
    requests=st.one_of(branching, shallow, sessions()),
    capacity=st.integers(1, 250),
    deepest_first=st.booleans(),
)
def test_equals_its_definition(name, requests, capacity, deepest_first):
    trace = Trace.of_requests(requests, block_size=16)
    prepared = Prepared(trace)
    cost = 865.0 + 2 * np.arange(prepared.longest)
    policy, form = policy_named(name), range_form(name)
    params = policy.with_params()
    n = trace.n_requests

    blocks = prepared.frame(capacity, cost, deepest_first=deepest_first, hole_log=1 << 14)
    assert policy.replay(blocks, policy.new_state(trace.n_blocks, capacity, params, 0), 0, n) == n

    ranges = prepared.frame(capacity, cost, deepest_first=deepest_first, hole_log=1 << 14, bits=True)
    state = form.new_state(Size(trace.n_blocks, capacity, n, deepest_first), params)
    for r in range(n):
        assert form.replay(ranges, state, r, r + 1) == r + 1
        form.check(state, ranges)

    for column in MEASURED:
        assert getattr(ranges, column).tolist() == getattr(blocks, column).tolist(), column
    assert ranges.hole_log[: ranges.numbers[8]].tolist() == blocks.hole_log[: blocks.numbers[8]].tolist()
    assert members(ranges.resident) == np.flatnonzero(blocks.resident).tolist()


@pytest.fixture(scope="module", params=["agentic_a.jsonl.zst", "mooncake_conversation.jsonl.gz"])
def beginning(request, shared):
    """The first requests of a real trace."""
    return Prepared(read_trace(shared / "data" / request.param, head=400))


@pytest.mark.parametrize("name", NAMES)
def test_equals_its_definition_on_real_traces(name, beginning):
    smallest = max(1, beginning.longest // 2)  # some requests do not fit
    for capacity in np.geomspace(smallest, beginning.trace.n_blocks, 12).astype(int).tolist():
        runs = [Simulation(beginning, name, capacity, kernel=kernel).run() for kernel in ("blocks", "ranges")]
        for column in MEASURED:
            blocks, ranges = (getattr(run.frame, column) for run in runs)
            assert np.array_equal(blocks, ranges), (capacity, column)
