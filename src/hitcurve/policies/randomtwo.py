"""RandomTwo: draw two resident blocks, evict the one whose last access is longer ago.

Power of two choices: nearly LRU, without a queue.  Equally old: the second goes.  All blocks of a request count as
accessed when it ends.

Differs from the paper: folklore, no paper.  Pinned blocks are not drawn.  libCacheSim stamps every access by itself, so
that a request's deepest block looks oldest, and draws by hash bucket; here draws are uniform, with replacement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import request_stamp
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.pool import Pool, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.rng import seeded
from hitcurve.policies.policy import Policy

FACTS = np.dtype([("touched", np.int64)])  # clock after the last request that held the block


class State(NamedTuple):
    pool: Pool
    rng: np.ndarray


def new_state(n_blocks, capacity, params, seed):
    return State(new_pool(n_blocks, capacity, FACTS), seeded(seed))


@helper
def on_allocate(state, frame, now):
    set_pinned_aside(state.pool, frame)


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
    one, other = draw(state.pool, state.rng), draw(state.pool, state.rng)
    older = one if state.pool.facts[one].touched < state.pool.facts[other].touched else other
    return remove(state.pool, older)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "randomtwo",
    family="sampled",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
)
