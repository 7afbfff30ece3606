"""s3fifod equals its twin on traces long enough for the border to move, both ways."""

from __future__ import annotations

import numpy as np
import pytest

from hitcurve.policies import policy_named
from hitcurve.policies.s3fifod import SMALL
from hitcurve.simulation import new_frame
from hitcurve.trace import Trace
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache

CAPACITY, N = 100, 1500


def returning(distance: int, hits: int) -> list[list[int]]:
    """One new block after another, hit so often at once, and each comes back when ``distance`` others have entered."""
    return [[block] for n in range(N) for block in [n] * (1 + hits) + [n - distance] * (n >= distance)]


@pytest.mark.parametrize("pin", [True, False])
@pytest.mark.parametrize(("requests", "grows"), [(returning(15, hits=0), True), (returning(95, hits=1), False)])
def test_equals_its_twin_where_the_border_moves(requests, grows, pin):
    trace = Trace.of_requests(requests)
    policy = policy_named("s3fifod")
    params = policy.with_params()
    frame = new_frame(trace, CAPACITY, np.ones(1), pin=pin)
    state = policy.new_state(trace.n_blocks, CAPACITY, params, 0)
    begin = state.share[SMALL]
    assert policy.replay(frame, state, 0, trace.n_requests) == trace.n_requests
    policy.check(state, frame)
    twin = twin_named("s3fifod", CAPACITY, params, 0)
    slow = NaiveCache(twin, CAPACITY, [trace.blocks(r).tolist() for r in range(trace.n_requests)], pin=pin)
    assert frame.hits.tolist() == slow.run().hits
    assert state.share.tolist() == [twin.small_limit, twin.main_limit, twin.ghost_limit]
    assert state.returns.tolist() == [twin.small_returns, twin.main_returns]
    assert (state.share[SMALL] > begin) if grows else (state.share[SMALL] < begin)
