"""CACHEUS: two experts, one that resists scans and one that resists churn, name the victim by learned weights.

Rodriguez, Yusuf, Lyons, Paz, Rangaswami, Liu, Zhao, Narasimhan: "Learning Cache Replacement with CACHEUS", FAST 2021.
Both experts hold all resident blocks.  SR-LRU: a new block enters SR, a hit there moves it to the front of R, what R
has no room for is demoted to SR; victims are SR's oldest.  Its history H holds victims of both experts: a block that
returns from it enters R, and enlarges SR if it had left unused; a hit on a demoted block enlarges R.  CR-LFU: the
lowest frequency, among equals the block that reached it last; frequencies survive in H.
If the experts differ, one is drawn by weight and remembers the victim; when it returns, that expert loses weight by the
learning rate, which follows the hit ratio once in as many accesses as the capacity has blocks.

Differs from the paper: the hit ratio is rounded down to 0 or 1, a weight can sink to 0 (as in PrefixSim).  SR and R are
whole blocks, SR at least 1; SR may use what R leaves free, so nothing leaves before the cache is full.  A cache of 1
block is all SR and remembers no expert's victims.  A pinned block is passed over: SR's oldest, then R's oldest, then
the next of CR-LFU; remembered blocks of the arriving request are the last to be forgotten.
Differs from libCacheSim: SR never evicts by itself when a block enters.  Marks travel with a block between its lists,
and the number of new blocks in H is that of the blocks which are there now.  The learning rate changes by fractions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.kernels.frame import capacity_of, is_pinned
from hitcurve.kernels.frequency import (
    Buckets,
    bucket_above,
    end_of,
    listed_by_frequency,
    new_bucket,
    new_buckets,
    rise,
)
from hitcurve.kernels.frequency import take as leave
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    front,
    is_sentinel,
    listed,
    move_to_front,
    new_queues,
    older,
    push_front,
    put,
    take,
)
from hitcurve.kernels.rng import below, seeded
from hitcurve.kernels.walk import begin_walk, forget_oldest, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy

SR, R, H = np.arange(3)  # queues of SR-LRU; plain numbers would be compiled for one by one
NEW, DEMOTED, REUSED, LEFT_NEW, LEFT, UNKNOWN = range(6)  # where a block is: the first two in SR, then R, H, H
BY_LRU, BY_LFU, NOBODY = range(3)  # who remembers a victim: the experts' queues of ghosts, places in ``weight``
SR_LIMIT, N_DEMOTED, N_LEFT_NEW, HITS, NEXT_LESSON, IDLE, CANDIDATE = range(7)  # places in ``numbers``
RATE, RATE_BEFORE, HIT_RATIO = range(3)  # places in ``learning``


class State(NamedTuple):
    queues: Queues  # SR, R, H
    ghosts: Queues  # BY_LRU, BY_LFU
    buckets: Buckets  # CR-LFU
    place: np.ndarray  # uint8 (n_blocks,): NEW, DEMOTED, REUSED, LEFT_NEW, LEFT or UNKNOWN
    ghost: np.ndarray  # uint8 (n_blocks,): the queue of ghosts that holds a block, or NOBODY
    remembered: np.ndarray  # int64 (n_blocks,): frequency of a block in H, else of no meaning, 0 where unknown
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    passed_ghosts: np.ndarray  # int64 (2,)
    numbers: np.ndarray  # int64: see the places above
    weight: np.ndarray  # float64 (2,)
    learning: np.ndarray  # float64: see the places above
    rng: np.ndarray


@helper
def drawn_rate(rng):
    return 0.001 + below(rng, 1000) / 1000


def new_state(n_blocks, capacity, params, seed):
    queues, ghosts, rng = new_queues(n_blocks, 3), new_queues(n_blocks, 2), seeded(seed)
    return State(
        queues,
        ghosts,
        new_buckets(n_blocks, capacity),
        place=np.full(n_blocks, UNKNOWN, np.uint8),
        ghost=np.full(n_blocks, NOBODY, np.uint8),
        remembered=np.zeros(n_blocks, np.int64),
        passed=new_walk(queues),
        passed_ghosts=new_walk(ghosts),
        numbers=np.array([max(1, capacity // 2), 0, 0, 0, capacity, 0, -1], np.int64),
        weight=np.full(2, 0.5),
        learning=np.array([drawn_rate(rng), 0.0, 0.0]),
        rng=rng,
    )


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)
    begin_walk(state.ghosts, state.passed_ghosts)
    state.numbers[CANDIDATE] = front(state.buckets.queues, bucket_above(state.buckets, end_of(state.buckets)))


@helper
def step(numerator, denominator):
    """Blocks by which SR and R shift, at least 1."""
    return max(1, numerator // denominator)


@part
def use_again(queues, places, numbers, block, capacity):
    """A block of SR or H becomes the newest of R, whose oldest are demoted for it."""
    place, size = places[block], queues.size
    take(queues, SR if place <= DEMOTED else H, block)
    put(queues, R, block)
    places[block] = REUSED
    while size[R] > capacity - numbers[SR_LIMIT]:
        demoted = back(queues, R)
        take(queues, R, demoted)
        put(queues, SR, demoted)
        places[demoted] = DEMOTED
        numbers[N_DEMOTED] += 1
    if place == DEMOTED:
        numbers[SR_LIMIT] = max(1, numbers[SR_LIMIT] - step(numbers[N_LEFT_NEW], numbers[N_DEMOTED]))
        numbers[N_DEMOTED] -= 1
    elif place == LEFT_NEW:
        limit = numbers[SR_LIMIT] + step(numbers[N_DEMOTED], numbers[N_LEFT_NEW])
        numbers[SR_LIMIT] = max(1, min(limit, size[SR] + size[R] - 1))
        numbers[N_LEFT_NEW] -= 1


@part
def enter_at(buckets, block, frequency):
    """Put a block that is not in as the newest of a frequency.  Costs a step for each lower one that occurs."""
    lower = end_of(buckets)
    k = bucket_above(buckets, lower)
    while 0 < buckets.frequency[k] < frequency:
        lower = k
        k = bucket_above(buckets, k)
    if buckets.frequency[k] != frequency:
        k = new_bucket(buckets, frequency, lower)
    push_front(buckets.queues, k, block)
    buckets.bucket[block] = k


@part
def learn(numbers, learning, rng, capacity):
    """Set the learning rate by what the last one did to the hit ratio."""
    rate, hit_ratio = learning[RATE], float(numbers[HITS] // capacity)
    rate_change, change = rate - learning[RATE_BEFORE], hit_ratio - learning[HIT_RATIO]
    learning[RATE_BEFORE], learning[HIT_RATIO] = rate, hit_ratio
    numbers[HITS] = 0
    numbers[NEXT_LESSON] += capacity
    if rate_change != 0:
        shift = abs(rate * rate_change)
        rate = rate + shift if change / rate_change > 0 else rate - shift
        learning[RATE] = rate if rate > 0.001 else 0.0001
        numbers[IDLE] = 0
    elif hit_ratio == 0 or change <= 0:
        numbers[IDLE] += 1
    elif numbers[IDLE] >= 10:
        numbers[IDLE] = 0
        learning[RATE] = drawn_rate(rng)


@part
def blame(weight, expert, rate):
    """The expert whose victim returns loses weight."""
    weight[expert] *= math.exp(-rate)
    weight[BY_LRU] /= weight[BY_LRU] + weight[BY_LFU]
    weight[BY_LFU] = 1 - weight[BY_LRU]


@helper
def learn_in_time(state, frame, now):
    if now == state.numbers[NEXT_LESSON]:
        learn(state.numbers, state.learning, state.rng, capacity_of(frame))


@helper
def on_hit(state, frame, block, position, now):
    if state.place[block] == REUSED:
        move_to_front(state.queues, R, block)
    else:
        use_again(state.queues, state.place, state.numbers, np.int64(block), capacity_of(frame))
    rise(state.buckets, block)
    state.numbers[HITS] += 1
    learn_in_time(state, frame, now)


@helper
def on_insert(state, frame, block, position, now):
    expert = np.int64(state.ghost[block])
    if expert != NOBODY:
        take(state.ghosts, expert, np.int64(block))
        state.ghost[block] = NOBODY
        blame(state.weight, expert, state.learning[RATE])
    if state.place[block] == UNKNOWN:
        put(state.queues, SR, np.int64(block))
        state.place[block] = NEW
    else:
        use_again(state.queues, state.place, state.numbers, np.int64(block), capacity_of(frame))
    enter_at(state.buckets, np.int64(block), state.remembered[block] + 1)
    learn_in_time(state, frame, now)


@helper
def next_candidate(buckets, block):
    """The block after this one in the order of CR-LFU, or -1."""
    following = older(buckets.queues, block)
    if is_sentinel(buckets.queues, following):
        k = bucket_above(buckets, buckets.bucket[block])
        following = np.int64(-1) if k == end_of(buckets) else front(buckets.queues, k)
    return following


@part
def forget(queues, passed, q, frame):
    """``forget_oldest`` as a call."""
    return forget_oldest(queues, passed, q, frame)


@helper
def remember(state, frame, expert, block):
    """The expert keeps its victim in mind."""
    limit = capacity_of(frame) // 2
    if limit > 0:
        if state.ghosts.size[expert] >= limit:
            state.ghost[forget(state.ghosts, state.passed_ghosts, np.int64(expert), frame)] = NOBODY
        put(state.ghosts, expert, block)
        state.ghost[block] = expert


@helper
def enter_history(state, frame, block):
    place, numbers = state.place[block], state.numbers
    if state.queues.size[H] >= capacity_of(frame):
        forgotten = forget(state.queues, state.passed, H, frame)
        numbers[N_LEFT_NEW] -= state.place[forgotten] == LEFT_NEW
        state.place[forgotten] = UNKNOWN
        state.remembered[forgotten] = 0
    put(state.queues, H, block)
    numbers[N_DEMOTED] -= place == DEMOTED
    numbers[N_LEFT_NEW] += place == NEW
    state.place[block] = LEFT_NEW if place == NEW else LEFT
    state.remembered[block] = state.buckets.frequency[state.buckets.bucket[block]]


@part
def evict(state, frame, now):
    by_lru = oldest_unpinned(state.queues, state.passed, SR, frame)
    if is_sentinel(state.queues, by_lru):
        by_lru = oldest_unpinned(state.queues, state.passed, R, frame)
    by_lfu = state.numbers[CANDIDATE]
    while is_pinned(frame, by_lfu):
        by_lfu = next_candidate(state.buckets, by_lfu)
    victim = by_lru
    if by_lru != by_lfu:
        expert = BY_LRU if below(state.rng, 100) / 100 < state.weight[BY_LRU] else BY_LFU
        victim = by_lru if expert == BY_LRU else by_lfu
        remember(state, frame, expert, victim)
    state.numbers[CANDIDATE] = next_candidate(state.buckets, by_lfu) if victim == by_lfu else by_lfu
    take(state.queues, R if state.place[victim] == REUSED else SR, victim)
    enter_history(state, frame, victim)
    leave(state.buckets, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    capacity, resident, numbers = capacity_of(frame), np.flatnonzero(frame.resident).tolist(), state.numbers
    sr, r, h = (listed(state.queues, q) for q in range(3))
    assert sorted(sr + r) == resident
    at = [np.flatnonzero(state.place == place).tolist() for place in range(UNKNOWN)]
    assert (sorted(sr), sorted(r), sorted(h)) == (
        sorted(at[NEW] + at[DEMOTED]),
        at[REUSED],
        sorted(at[LEFT_NEW] + at[LEFT]),
    )
    assert (numbers[N_DEMOTED], numbers[N_LEFT_NEW]) == (len(at[DEMOTED]), len(at[LEFT_NEW]))
    assert len(h) <= capacity and 1 <= numbers[SR_LIMIT] <= max(1, capacity - 1)
    for expert in (BY_LRU, BY_LFU):
        ghosts = listed(state.ghosts, expert)
        assert sorted(ghosts) == np.flatnonzero(state.ghost == expert).tolist()
        assert len(ghosts) <= capacity // 2 and not frame.resident[ghosts].any()
    assert sorted(block for _, bucket in listed_by_frequency(state.buckets) for block in bucket) == resident
    assert state.weight.min() >= 0 and math.isclose(state.weight.sum(), 1) and state.learning[RATE] > 0


POLICY = Policy(
    "cacheus",
    family="adaptive",
    paper="Rodriguez et al., Learning Cache Replacement with CACHEUS, FAST 2021",
    year=2021,
    new_state=new_state,
    replay=replay,
    check=check,
)
