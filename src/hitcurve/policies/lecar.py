"""LeCaR: two experts, LRU and LFU, over one set of blocks; which one names the victim is drawn by learned weights.

Vietri, Rodriguez, Martinez, Lyons, Liu, Rangaswami, Zhao, Narasimhan: "Driving Cache Replacement with ML-based LeCaR",
HotStorage 2018.  Each expert remembers the victims it named.  When one of them comes back after t accesses, that
expert's weight is multiplied by exp(-rate * discount**t), discount = 0.005**(1 / capacity), and both are scaled to 1.

Differs from the paper: where both experts name the same block it goes without a draw and is not remembered, and a block
comes back with frequency 1 (as in libCacheSim).  Pinned blocks are passed over by both experts; remembered blocks of
the arriving request are the last to be forgotten.
Differs from libCacheSim: draws are uniform on 0 .. 1, not on hundredths.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import is_pinned
from hitcurve.kernels.frequency import (
    Buckets,
    enter,
    first_block,
    listed_by_frequency,
    new_buckets,
    next_block,
    rise,
    take,
)
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, listed, move_to_front, new_queues, push_front, remove
from hitcurve.kernels.rng import seeded, uniform
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned, remember
from hitcurve.policies.policy import Policy

RECENT, GHOST_LRU, GHOST_LFU = range(3)  # residents by recency; blocks that an expert remembers
SMALL = 1e-10  # no weight falls to 0


class Params(NamedTuple):
    rate: float = 0.45  # learning rate


class State(NamedTuple):
    queues: Queues  # RECENT, GHOST_LRU, GHOST_LFU
    buckets: Buckets  # residents by frequency
    ghost: np.ndarray  # uint8 (n_blocks,): GHOST_LRU or GHOST_LFU for a remembered block, else 0
    evicted: np.ndarray  # int64 (n_blocks,): clock when a remembered block went
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    walk: np.ndarray  # int64 [0]: the LFU expert's next candidate of this allocation
    weight: np.ndarray  # float64 [0]: of the LRU expert; the other's is what is left of 1
    draws: np.ndarray  # see kernels/rng.py
    rate: float
    discount: float
    ghost_limit: int


def new_state(n_blocks, capacity, params, seed):
    if not params.rate >= 0:
        raise BadParameter(f"lecar: wanted rate >= 0, found {params.rate}")
    queues = new_queues(n_blocks, 3)
    return State(
        queues,
        new_buckets(n_blocks, capacity),
        ghost=np.zeros(n_blocks, np.uint8),
        evicted=np.zeros(n_blocks, np.int64),
        passed=new_walk(queues),
        walk=np.zeros(1, np.int64),
        weight=np.full(1, 0.5),
        draws=seeded(seed),
        rate=params.rate,
        discount=0.005 ** (1 / capacity),
        ghost_limit=capacity // 2,
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)
    state.walk[0] = first_block(state.buckets)


@helper
def on_hit(state, frame, block, position, now):
    move_to_front(state.queues, RECENT, block)
    rise(state.buckets, block)


@part
def learn(state, expert, elapsed):
    """Lower the weight of the expert whose victim came back after ``elapsed`` accesses."""
    lru, lfu = state.weight[0], 1.0 - state.weight[0]
    factor = np.exp(-state.rate * state.discount**elapsed)
    if expert == GHOST_LRU:
        lru *= factor
    else:
        lfu *= factor
    state.weight[0] = (lru + SMALL) / (lru + lfu + 2 * SMALL)


@helper
def on_insert(state, frame, block, position, now):
    expert = state.ghost[block]
    if expert:
        remove(state.queues, expert, block)
        state.ghost[block] = 0
        learn(state, expert, now - state.evicted[block])
    push_front(state.queues, RECENT, block)
    enter(state.buckets, block)


@part
def evict(state, frame, now):
    recent = oldest_unpinned(state.queues, state.passed, RECENT, frame)
    rare = state.walk[0]
    while is_pinned(frame, rare):
        rare = next_block(state.buckets, rare)
    victim, expert = recent, 0
    if recent != rare:
        expert = GHOST_LRU if uniform(state.draws) < state.weight[0] else GHOST_LFU
        victim = recent if expert == GHOST_LRU else rare
    state.walk[0] = next_block(state.buckets, rare) if victim == rare else rare
    remove(state.queues, RECENT, victim)
    take(state.buckets, victim)
    if expert:
        remember(state.queues, state.passed, expert, state.ghost_limit, state.ghost, 0, victim, frame)
        state.evicted[victim] = now
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    recent, lru, lfu = (listed(state.queues, q) for q in (RECENT, GHOST_LRU, GHOST_LFU))
    residents = np.flatnonzero(frame.resident).tolist()
    assert sorted(recent) == residents
    assert sorted(block for _, blocks in listed_by_frequency(state.buckets) for block in blocks) == residents
    assert sorted(lru) == np.flatnonzero(state.ghost == GHOST_LRU).tolist() and len(lru) <= state.ghost_limit
    assert sorted(lfu) == np.flatnonzero(state.ghost == GHOST_LFU).tolist() and len(lfu) <= state.ghost_limit
    assert 0 < state.weight[0] < 1


POLICY = Policy(
    "lecar",
    family="adaptive",
    paper="Vietri et al., Driving Cache Replacement with ML-based LeCaR, HotStorage 2018",
    year=2018,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
