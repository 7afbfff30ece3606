"""Random by compute, over sessions: draw 8, evict the one that costs least per request served since its last turn.

PrefixSim's policy, of the ``session_lru`` kind: claims, overshoot and releases are described there.  The score of a
session is the cost of its whole path over the requests served since its last one; the lowest goes, of equal ones the
one drawn first.

Differs from the paper: folklore, no paper.  Pins as for ``session_lru``.  A path costs the exact sum of its positions,
shared blocks and blocks that are about to be computed included.  PrefixSim adds up what it has noted of each block when
it was inserted, 1 where it has noted nothing, and draws from a Mersenne twister.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.claims import Claims, claimed, evict_by_session, freed, new_claims, on_block, serve_session
from hitcurve.kernels.frame import REQUEST
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.pool import DRAWABLE, SIZE, Pool, add, draw, listed, new_pool, remove
from hitcurve.kernels.rng import seeded
from hitcurve.policies.policy import Policy

# Cost of the session's path, number of its latest request among those served.
FACTS = np.dtype([("cost", np.float64), ("served", np.float64)])


class Params(NamedTuple):
    n_samples: int = 8  # sessions drawn for each victim, with replacement


class State(NamedTuple):
    params: Params
    claims: Claims
    pool: Pool  # of sessions
    rng: np.ndarray
    served: np.ndarray  # int64 [0]: requests served, those without blocks left out


def new_state(n_blocks, capacity, params, seed, context):
    if params.n_samples < 1:
        raise BadParameter(f"session_random_compute: wanted n_samples >= 1, found {params.n_samples}")
    claims = new_claims(n_blocks, context.session)
    n_sessions = len(claims.request)
    pool = new_pool(n_sessions, n_sessions, FACTS)
    return State(params, claims, pool, seeded(seed), np.zeros(1, np.int64))


@helper
def note(state, frame, slot):
    state.served[0] += 1
    state.pool.facts[slot].cost = frame.cost_sum[frame.blocks[frame.numbers[REQUEST]]]
    state.pool.facts[slot].served = state.served[0]


@helper
def enter(state, frame, session):
    note(state, frame, add(state.pool, session))


@helper
def turn(state, frame, session):
    note(state, frame, state.pool.slot[session])


@helper
def choose(state, frame):
    numbers, facts = state.pool.numbers, state.pool.facts
    numbers[DRAWABLE] = numbers[SIZE]
    chosen, lowest = np.int64(-1), np.inf
    for _ in range(state.params.n_samples):
        slot = draw(state.pool, state.rng)
        score = facts[slot].cost / max(1.0, state.served[0] - facts[slot].served)
        if score < lowest:
            chosen, lowest = slot, score
    return remove(state.pool, chosen)


@helper
def on_path(state, frame, now):
    serve_session(state, frame, enter, turn)


@helper
def evict(state, frame, now):
    return evict_by_session(state, frame, now, choose)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_block, on_block, evict, on_path=on_path, release=freed)


def check(state, frame):
    assert sorted(listed(state.pool)) == claimed(state.claims, frame)


POLICY = Policy(
    "session_random_compute",
    family="session",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost", "session"}),
    without={"session": "session_random_compute: the trace names no sessions, so each request is one"},
)
