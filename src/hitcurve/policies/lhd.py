"""LHD: evict the block with the least hit density, the hits to expect from it per time that it stays.

Beckmann, Chen, Cidon: "LHD: Improving Cache Hit Rate by Maximizing Hit Density", NSDI 2018.  Densities are learnt by
age and class (``kernels/hit_density.py``).  The victim is the least dense of 32 draws and of the blocks that were
admitted lately with less density than recent victims.  Early on there are 8 draws, and a few blocks, explorers, stay
longer than they deserve, so that hits at high ages can be seen.  Blocks past the last age go first.

Differs from the paper: one application, sizes are 1.  All blocks of a request are touched when it ends.  Pinned blocks
are no candidates.  In libCacheSim a victim past the last age counts as minus infinity among recent victims, which keeps
new blocks from being candidates for thousands of evictions; here it counts as 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
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
from hitcurve.kernels.rng import below, seeded
from hitcurve.policies.policy import Policy

KNOWN = np.dtype([*FACTS, ("explorer", np.int64)])  # 1 for an explorer
EARLY = 50  # reconfigurations before which there are explorers, and fewer draws
EARLY_DRAWS = 8
EXPLORERS = 0.01  # share of the capacity
EXPLORED = 32  # one update in so many makes an explorer
FADING = 0.9
ADMITTED, BUDGET = 0, 1  # places in State.numbers: blocks put in recent so far, explorers still allowed


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
    numbers: np.ndarray  # int64: see the places above
    victim_density: np.ndarray  # float64 [0]: fading mean


def new_state(n_blocks, capacity, params, seed):
    if params.associativity < 1 or params.admissions < 1 or params.n_ages < 2 or params.interval < 1:
        raise BadParameter(f"lhd: wanted associativity, admissions, interval >= 1 and n_ages >= 2, found {params}")
    return State(
        params,
        new_pool(n_blocks, capacity, KNOWN),
        seeded(seed),
        new_hit_density(params.n_ages, params.interval),
        np.full(params.admissions, -1, np.int64),
        np.array([0, int(capacity * EXPLORERS)], np.int64),
        np.zeros(1),
    )


@helper
def on_allocate(state, frame, now):
    set_pinned_aside(state.pool, frame)


@helper
def density_of(state, slot, now):
    fact = state.pool.facts[slot]
    age = age_after(state.model, now - fact.touched)
    if age == state.params.n_ages - 1:
        return -1.0
    return state.model.density[fact.age_class, age] + fact.explorer


@part
def lucky(rng):
    """A call of its own, since two inlined generators would add to the compile time of every user of this policy."""
    return below(rng, EXPLORED) == 0


@helper
def explore(state, slot):
    """Make the block an explorer, perhaps."""
    early = state.model.numbers[RECONFIGURATIONS] < EARLY
    explorer = 1 if early and state.numbers[BUDGET] > 0 and lucky(state.rng) else 0
    state.numbers[BUDGET] -= explorer
    state.pool.facts[slot].explorer = explorer


@helper
def on_hit(state, frame, block, position, now):
    slot = state.pool.slot[block]
    count_hit(state.model, state.pool, slot, request_stamp(frame))
    state.numbers[BUDGET] += state.pool.facts[slot].explorer
    explore(state, slot)
    end_update(state.model, state.pool)


@helper
def on_insert(state, frame, block, position, now):
    slot = add(state.pool, block)
    count_insertion(state.model, state.pool, slot, request_stamp(frame))
    explore(state, slot)
    if state.model.density[0, 0] + state.pool.facts[slot].explorer < state.victim_density[0]:
        state.recent[state.numbers[ADMITTED] % len(state.recent)] = block
        state.numbers[ADMITTED] += 1
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
        density = density_of(state, slot, now)
        if density < lowest:
            victim, lowest = slot, density
    state.victim_density[0] = FADING * state.victim_density[0] + (1 - FADING) * max(0.0, lowest)
    count_eviction(state.model, state.pool, victim, now)
    state.numbers[BUDGET] += state.pool.facts[victim].explorer
    return remove(state.pool, victim)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    residents = listed(state.pool)
    assert sorted(residents) == np.flatnonzero(frame.resident).tolist()
    explorers = state.pool.facts.explorer[: len(residents)].sum()
    assert state.numbers[BUDGET] + explorers == int(frame.numbers[0] * EXPLORERS)
    assert (state.model.counts >= 0).all() and (state.model.density >= 0).all()


POLICY = Policy(
    "lhd",
    family="frequency",
    paper="Beckmann, Chen, Cidon, LHD: Improving Cache Hit Rate by Maximizing Hit Density, NSDI 2018",
    year=2018,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
