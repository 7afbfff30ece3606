"""Belady by compute: draw 128 resident blocks, evict the one whose next use is farthest away for what it costs.

PrefixSim's policy, after Belady: "A study of replacement algorithms for a virtual-storage computer", IBM Systems
Journal 5(2), 1966.  The largest distance / cost goes, infinite for a block that is never used again; equal ratios: the
one drawn first.

Differs from the paper: costs, and draws instead of a search among all.  Pinned blocks are not drawn, and draws are
uniform, where PrefixSim draws by hash bucket and compares the logarithms of the same ratios.  Its rule for a next use
that has passed has no case here: next uses are numbered over served requests, as the clock is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import NEVER
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.pool import Pool, add, listed, new_pool
from hitcurve.kernels.sampling import Draws, begin_search, new_draws, search
from hitcurve.policies.policy import Policy

# Cost of the block's last position, number of the access that uses it again or infinity.
FACTS = np.dtype([("cost", np.float64), ("next_use", np.float64)])


class Params(NamedTuple):
    n_samples: int = 128  # blocks drawn for each victim, with replacement


class State(NamedTuple):
    pool: Pool
    draws: Draws


def new_state(n_blocks, capacity, params, seed):
    if params.n_samples < 1:
        raise BadParameter(f"belady_compute: wanted n_samples >= 1, found {params.n_samples}")
    pool = new_pool(n_blocks, capacity, FACTS)
    return State(pool, new_draws(params.n_samples, seed))


@helper
def score_of(state, slot, now):
    return (now - state.pool.facts[slot].next_use) / state.pool.facts[slot].cost


@helper
def on_allocate(state, frame, now):
    begin_search(state, frame, now, score_of)


@helper
def touch(state, frame, slot, block, position):
    state.pool.facts[slot].cost = max(1, frame.cost[position])
    state.pool.facts[slot].next_use = frame.next_use[block] if frame.next_use[block] != NEVER else np.inf


@helper
def on_hit(state, frame, block, position, now):
    touch(state, frame, state.pool.slot[block], block, position)


@helper
def on_insert(state, frame, block, position, now):
    touch(state, frame, add(state.pool, block), block, position)


@helper
def evict(state, frame, now):
    return search(state, now, score_of)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()


POLICY = Policy(
    "belady_compute",
    family="cost-aware",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost", "next_use"}),
)
