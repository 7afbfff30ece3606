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
from hitcurve.kernels.pool import Pool, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.rng import seeded
from hitcurve.policies.policy import Policy

WORTH, TOUCHED = 0, 1  # facts: cost of the block's last position, less before a hit; as in random_compute


class Params(NamedTuple):
    n_samples: int = 128  # blocks drawn for each victim, with replacement
    one_hit_penalty: float = 0.1  # factor on the cost of a block that was never hit


class State(NamedTuple):
    params: Params
    pool: Pool
    rng: np.ndarray


def new_state(n_blocks, capacity, params, seed):
    if params.n_samples < 1:
        raise BadParameter(f"random_compute_small_queue: wanted n_samples >= 1, found {params.n_samples}")
    return State(params, new_pool(n_blocks, capacity, n_facts=2, dtype=np.float64), seeded(seed))


@helper
def on_allocate(state, frame, now):
    set_pinned_aside(state.pool, frame)


@helper
def touch(state, frame, slot, worth):
    state.pool.facts[slot, WORTH] = worth
    state.pool.facts[slot, TOUCHED] = request_stamp(frame)


@helper
def on_hit(state, frame, block, position, now):
    touch(state, frame, state.pool.slot[block], frame.cost[position])


@helper
def on_insert(state, frame, block, position, now):
    touch(state, frame, add(state.pool, block), frame.cost[position] * state.params.one_hit_penalty)


@helper
def evict(state, frame, now):
    victim, lowest = np.int64(-1), np.inf
    for _ in range(state.params.n_samples):
        slot = draw(state.pool, state.rng)
        score = state.pool.facts[slot, WORTH] / max(1.0, now - state.pool.facts[slot, TOUCHED])
        if score < lowest:
            victim, lowest = slot, score
    return remove(state.pool, victim)


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
