"""LHD and lhd_compute equal their twins where they reconfigure, rescale ages and pass the last age many times."""

from __future__ import annotations

import numpy as np
import pytest

from hitcurve.policies import policy_named
from hitcurve.simulation import new_frame
from hitcurve.trace import Trace
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache
from tests.policies.trees import conversations


@pytest.mark.parametrize("name", ["lhd", "lhd_compute"])
@pytest.mark.parametrize("pin", [True, False])
@pytest.mark.parametrize(("n_ages", "interval", "capacity"), [(2, 5, 40), (20, 60, 300), (40, 37, 120), (3000, 90, 90)])
def test_equals_its_twin_through_reconfigurations(name, pin, n_ages, interval, capacity):
    requests = conversations(seed=n_ages, n=500)
    trace = Trace.of_requests(requests)
    policy = policy_named(name)
    params = policy.with_params(n_ages=n_ages, interval=interval)
    frame = new_frame(trace, capacity, 865.0 + 2 * np.arange(30), pin=pin)
    state = policy.new_state(trace.n_blocks, capacity, params, 1)
    state.model.numbers[0] = 4  # long steps would keep every age at 0 in a trace this short
    twin = twin_named(name, capacity, params, 1)
    twin.shift = 4
    assert policy.replay(frame, state, 0, trace.n_requests) == trace.n_requests
    policy.check(state, frame)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    slow = NaiveCache(twin, capacity, paths, pin=pin, cost=lambda p: 865.0 + 2 * p)
    expected = slow.run()
    assert twin.reconfigurations > 26 and twin.shift != 4
    assert frame.hits.tolist() == expected.hits
    assert frame.self_evictions.tolist() == expected.self_evictions
    assert set(np.flatnonzero(frame.resident).tolist()) == slow.resident
