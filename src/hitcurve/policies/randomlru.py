"""RandomLRU: draw 64 resident blocks, evict the one whose last access is longest ago.

Psounis, Prabhakar: "A randomized web-cache replacement scheme", INFOCOM 2001, with age as usefulness.  Equally old: the
one drawn first goes.  All blocks of a request count as accessed when it ends.

Differs from the paper: no candidates are kept from one eviction to the next.  Pinned blocks are not drawn.  libCacheSim
reads a parameter n-samples = 16, but always draws 64: here the parameter is honoured and 64 is its default.  It also
stamps every access by itself and draws by hash bucket; here draws are uniform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import request_stamp
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.pool import Pool, add, listed, new_pool
from hitcurve.kernels.sampling import Draws, begin_search, new_draws, search
from hitcurve.policies.policy import Policy

FACTS = np.dtype([("touched", np.int64)])  # clock after the last request that held the block


class Params(NamedTuple):
    n_samples: int = 64  # blocks drawn for each victim, with replacement


class State(NamedTuple):
    pool: Pool
    draws: Draws


def new_state(n_blocks, capacity, params, seed):
    if params.n_samples < 1:
        raise BadParameter(f"randomlru: wanted n_samples >= 1, found {params.n_samples}")
    return State(new_pool(n_blocks, capacity, FACTS), new_draws(params.n_samples, seed))


@helper
def score_of(state, slot, now):
    return np.float64(state.pool.facts[slot].touched)


@helper
def on_allocate(state, frame, now):
    begin_search(state, frame, now, score_of)


@helper
def touch(state, frame, slot):
    state.pool.facts[slot].touched = request_stamp(frame)


@helper
def on_hit(state, frame, block, position, now):
    touch(state, frame, state.pool.slot[block])


@helper
def on_insert(state, frame, block, position, now):
    touch(state, frame, add(state.pool, block))


@helper
def evict(state, frame, now):
    return search(state, now, score_of)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "randomlru",
    family="sampled",
    paper="Psounis and Prabhakar, A randomized web-cache replacement scheme, INFOCOM 2001",
    year=2001,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
