"""LHD by compute: evict the block with the least hit density times what it costs to compute it again.

PrefixSim's policy, after Beckmann, Chen, Cidon: "LHD: Improving Cache Hit Rate by Maximizing Hit Density", NSDI 2018.
Densities are learnt by age and class (``kernels/hit_density.py``).  The victim is the least of 32 draws and of the
blocks that were admitted lately with less than recent victims.  Early on there are 8 draws.

Differs from the paper: costs, one application, sizes are 1.  A block past the last age has the density of that age, and
there are no explorers, which earn nothing in PrefixSim.  All blocks of a request are touched when it ends.  Pinned
blocks are no candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import is_pinned, request_stamp
from hitcurve.kernels.hit_density import (
    FACTS,
    RECONFIGURATIONS,
    HitDensity,
    age_after,
    count_eviction,
    count_hit,
    count_insertion,
    end_update,
    new_hit_density,
)
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.pool import Pool, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.rng import seeded
from hitcurve.policies.policy import Policy

KNOWN = np.dtype([*FACTS, ("cost", np.int64)])  # cost of the block's last position
EARLY = 50  # reconfigurations before which there are fewer draws
EARLY_DRAWS = 8
FADING = 0.9


class Params(NamedTuple):
    associativity: int = 32  # blocks drawn for each victim, with replacement
    admissions: int = 8  # recent admissions that are candidates too
    n_ages: int = 20_000  # ages told apart
    interval: int = 1 << 20  # updates between reconfigurations


class State(NamedTuple):
    params: Params
    pool: Pool
    rng: np.ndarray
    model: HitDensity
    recent: np.ndarray  # int64 (admissions,): ring of blocks, -1: none yet
    admitted: np.ndarray  # int64 [0]: blocks put in it so far
    victim_score: np.ndarray  # float64 [0]: fading mean


def new_state(n_blocks, capacity, params, seed):
    if params.associativity < 1 or params.admissions < 1 or params.n_ages < 2 or params.interval < 1:
        raise BadParameter(
            f"lhd_compute: wanted associativity, admissions, interval >= 1 and n_ages >= 2, found {params}"
        )
    return State(
        params,
        new_pool(n_blocks, capacity, KNOWN),
        seeded(seed),
        new_hit_density(params.n_ages, params.interval),
        np.full(params.admissions, -1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(1),
    )


@helper
def on_allocate(state, frame, now):
    set_pinned_aside(state.pool, frame)


@helper
def score_of(state, slot, now):
    fact = state.pool.facts[slot]
    return state.model.density[fact.age_class, age_after(state.model, now - fact.touched)] * fact.cost


@helper
def on_hit(state, frame, block, position, now):
    slot = state.pool.slot[block]
    count_hit(state.model, state.pool, slot, request_stamp(frame))
    state.pool.facts[slot].cost = frame.cost[position]
    end_update(state.model, state.pool)


@helper
def on_insert(state, frame, block, position, now):
    slot = add(state.pool, block)
    count_insertion(state.model, state.pool, slot, request_stamp(frame))
    state.pool.facts[slot].cost = frame.cost[position]
    if score_of(state, slot, request_stamp(frame)) < state.victim_score[0]:
        state.recent[state.admitted[0] % len(state.recent)] = block
        state.admitted[0] += 1
    end_update(state.model, state.pool)


@helper
def evict(state, frame, now):
    early = state.model.numbers[RECONFIGURATIONS] < EARLY
    draws = min(EARLY_DRAWS, state.params.associativity) if early else state.params.associativity
    victim, lowest = np.int64(-1), np.inf
    for i in range(draws + len(state.recent)):
        if i < draws:
            slot = draw(state.pool, state.rng)
        else:
            block = state.recent[i - draws]
            if block < 0 or state.pool.slot[block] < 0 or is_pinned(frame, block):
                continue
            slot = np.int64(state.pool.slot[block])
        score = score_of(state, slot, now)
        if score < lowest:
            victim, lowest = slot, score
    state.victim_score[0] = FADING * state.victim_score[0] + (1 - FADING) * lowest
    count_eviction(state.model, state.pool, victim, now)
    return remove(state.pool, victim)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.pool)) == np.flatnonzero(frame.resident).tolist()
    assert (state.model.counts >= 0).all() and (state.model.density >= 0).all()


POLICY = Policy(
    "lhd_compute",
    family="cost-aware",
    paper="Beckmann, Chen, Cidon, LHD: Improving Cache Hit Rate by Maximizing Hit Density, NSDI 2018",
    year=2018,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost"}),
)
