"""Hyperbolic: draw 64 resident blocks, evict the one with the fewest accesses per time spent in the cache.

Blankstein, Sen, Freedman: "Hyperbolic Caching: Flexible Caching for Web Applications", USENIX ATC 2017.  Accesses and
time count from when the block became resident; equal rates: the one drawn first goes.  All blocks of a request become
resident when it ends.

Differs from the paper: sizes and costs are 1, no candidates are kept from one eviction to the next.  Pinned blocks are
not drawn.  libCacheSim divides by zero for a block that has just come; here it has spent one access in the cache.
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

# Accesses, and the clock after the request, since the block became resident.
FACTS = np.dtype([("frequency", np.float64), ("entered", np.float64)])


class Params(NamedTuple):
    n_samples: int = 64  # blocks drawn for each victim, with replacement


class State(NamedTuple):
    pool: Pool
    draws: Draws


def new_state(n_blocks, capacity, params, seed):
    if params.n_samples < 1:
        raise BadParameter(f"hyperbolic: wanted n_samples >= 1, found {params.n_samples}")
    pool = new_pool(n_blocks, capacity, FACTS)
    return State(pool, new_draws(params.n_samples, seed))


@helper
def score_of(state, slot, now):
    return state.pool.facts[slot].frequency / max(1.0, now - state.pool.facts[slot].entered)


@helper
def on_allocate(state, frame, now):
    begin_search(state, frame, now, score_of)


@helper
def on_hit(state, frame, block, position, now):
    state.pool.facts[state.pool.slot[block]].frequency += 1


@helper
def on_insert(state, frame, block, position, now):
    slot = add(state.pool, block)
    state.pool.facts[slot].frequency = 1
    state.pool.facts[slot].entered = request_stamp(frame)


@helper
def evict(state, frame, now):
    return search(state, now, score_of)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "hyperbolic",
    family="frequency",
    paper="Blankstein, Sen, Freedman, Hyperbolic Caching, USENIX ATC 2017",
    year=2017,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
