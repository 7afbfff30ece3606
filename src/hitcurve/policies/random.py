"""Random: evict any resident block, each equally likely.

Differs from the paper: folklore, no paper.  Pinned blocks are not drawn.  libCacheSim takes the head of a random bucket
of its hash table, which favours some blocks; here draws are uniform.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.pool import Pool, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.rng import seeded
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    pool: Pool
    rng: np.ndarray


def new_state(n_blocks, capacity, params, seed):
    return State(new_pool(n_blocks, capacity), seeded(seed))


@helper
def on_allocate(state, frame, now):
    set_pinned_aside(state.pool, frame)


@helper
def on_hit(state, frame, block, position, now):
    pass


@helper
def on_insert(state, frame, block, position, now):
    add(state.pool, block)


@helper
def evict(state, frame, now):
    return remove(state.pool, draw(state.pool, state.rng))


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "random",
    family="sampled",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
)
