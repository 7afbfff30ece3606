"""Random by compute with a small queue: as random_compute, but blocks not yet hit count a tenth.

PrefixSim's policy: a block that was never hit since it became resident must prove itself, like in the small queue of
S3-FIFO.  Draw 128 blocks, evict the lowest cost (a tenth before the first hit) / time since last access; equal
scores: the one drawn first goes.  All blocks of a request count as accessed when it ends.

Differs from the paper: folklore, no paper.  Pinned blocks are not drawn.  PrefixSim draws by hash bucket; here draws
are uniform.
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

# Cost of the block's last position, less before a hit; as in random_compute.
FACTS = np.dtype([("worth", np.float64), ("touched", np.float64)])


class Params(NamedTuple):
    n_samples: int = 128  # blocks drawn for each victim, with replacement
    one_hit_penalty: float = 0.1  # factor on the cost of a block that was never hit


class State(NamedTuple):
    pool: Pool
    draws: Draws
    one_hit_penalty: float


def new_state(n_blocks, capacity, params, seed):
    if params.n_samples < 1:
        raise BadParameter(f"random_compute_small_queue: wanted n_samples >= 1, found {params.n_samples}")
    pool = new_pool(n_blocks, capacity, FACTS)
    return State(pool, new_draws(params.n_samples, seed), params.one_hit_penalty)


@helper
def score_of(state, slot, now):
    return state.pool.facts[slot].worth / max(1.0, now - state.pool.facts[slot].touched)


@helper
def on_allocate(state, frame, now):
    begin_search(state, frame, now, score_of)


@helper
def touch(state, frame, slot, worth):
    state.pool.facts[slot].worth = worth
    state.pool.facts[slot].touched = request_stamp(frame)


@helper
def on_hit(state, frame, block, position, now):
    touch(state, frame, state.pool.slot[block], frame.cost[position])


@helper
def on_insert(state, frame, block, position, now):
    touch(state, frame, add(state.pool, block), frame.cost[position] * state.one_hit_penalty)


@helper
def evict(state, frame, now):
    return search(state, now, score_of)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "random_compute_small_queue",
    family="cost-aware",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost"}),
)
