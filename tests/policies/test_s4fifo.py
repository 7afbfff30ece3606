"""S4-FIFO without its two knobs is S3-FIFO; and what each knob changes, on traces small enough to follow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter
from hitcurve.simulation import Simulation
from hitcurve.trace import Trace
from tests.policies.trees import block_requests, conversations, tree_requests


@settings(max_examples=60, deadline=None)
@given(
    requests=st.one_of(tree_requests, block_requests),
    capacity=st.integers(1, 24),
    pin=st.booleans(),
    shares=st.sampled_from([{}, {"small": 0.5, "ghost": 0.2, "threshold": 1}, {"small": 0.3, "ghost": 2.0}]),
)
def test_without_its_knobs_it_is_s3fifo(requests, capacity, pin, shares):
    trace = Trace.of_requests(requests)
    options = {"pin": pin, "params": shares, "holes": True, "kernel": "blocks"}
    one, other = (Simulation(trace, name, capacity, **options).run() for name in ("s4fifo", "s3fifo"))
    assert (one.frame.resident == other.frame.resident).all()
    assert one.result().hole_list.tolist() == other.result().hole_list.tolist()
    assert one.result().requests.columns.keys() == other.result().requests.columns.keys()
    for name, column in other.result().requests.columns.items():
        assert (one.result().requests[name] == column).all(), name


@pytest.mark.parametrize("knob", [{"skip": 0.5}, {"ghost_threshold": 1}])
def test_each_knob_changes_something(knob):
    trace = Trace.of_requests(conversations(seed=2, n=400))
    params = {"small": 0.3, "threshold": 1}
    with_it, without = (
        Simulation(trace, "s4fifo", 60, params=p).run().result().requests["n_block_hits"].tolist()
        for p in ({**params, **knob}, params)
    )
    assert with_it != without


def singles(*blocks):
    return Trace.of_requests([[block] for block in blocks], identity="raw")


def resident_after(trace, **params):
    simulation = Simulation(trace, "s4fifo", 4, params={"small": 0.5, "threshold": 1, "ghost": 0, **params}).run()
    return {int(trace.raw_ids[block]) for block in simulation.frame.resident.nonzero()[0]}


def test_a_hit_at_once_does_not_count():
    # 3 and 4 fill the main queue, which is filled first; 1 is hit while it is the newest of two, then 5 needs room
    early = singles(2, 1, 1, 3, 4, 5)
    assert 1 in resident_after(early)
    assert 1 in resident_after(singles(2, 1, 1, 3, 4, 5), skip=0.9), "the victim is 2, the oldest"
    late = singles(2, 1, 1, 3, 4, 5, 6)
    assert 1 in resident_after(late), "it counted, so 1 went to the main queue"
    assert 1 not in resident_after(late, skip=1), "the hit came while 1 was the newest"


@pytest.mark.parametrize("wrong", [{"skip": 1.5}, {"skip": -0.1}, {"ghost_threshold": -1}, {"threshold": 256}])
def test_knobs_have_limits(wrong):
    with pytest.raises(BadParameter, match="s4fifo: wanted small and skip in 0"):
        Simulation(singles(1), "s4fifo", 4, params=wrong)
