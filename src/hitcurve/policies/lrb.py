"""LRB: learn when blocks are used next; of 64 drawn blocks evict the one predicted to stay unused the longest.

Song, Berger, Li, Lloyd: "Learning Relaxed Belady for Content Distribution Network Caching", NSDI 2020.  Whoever evicts
blocks that are not used for very long does as well as Belady's rule; how long is long enough, the Belady boundary, is
taken to be the memory window, beyond which nothing is known anyway.  At each access of a full cache a block of the
window is drawn; its features as of then (age, 32 times between uses, 10 decayed counters, what else is known of it)
become an example once it is used again, labelled with the logarithm of the time until then, or, once it is forgotten,
of twice the window.  From enough examples LightGBM makes 32 trees, again and again.  Before the first model it is LRU.
A block last used before the window goes without being asked about.

Needs LightGBM (``pip install 'hitcurve[learned]'``).  Past accesses alone are learnt from.  The same seed gives the
same result on the same machine with the same version of LightGBM.

Differs from the paper: sizes are 1, so in their place the position of the block, the type and turn of the request (as
one number) and the number of uses are features.  The window is not a number of accesses but of blocks remembered,
``window`` times the capacity, forgotten in order of eviction, so that it is as long as the trace makes it and memory is
bounded; in place of twice the window stands the age of the forgotten block plus the longest age of any.  One access in
4 draws, and a model is made of an eighth of the examples (parameters); one example of a block waits at a time, and none
counts before the window could have been full.  All blocks of a request are used at one time.  Among equal predictions
the deepest block goes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.history import POSITION, RESIDENT, enter, last_use, new_history, remembered, renew
from hitcurve.kernels.learner import (
    HORIZON,
    Learner,
    draw_examples,
    enough,
    has_model,
    learn_eviction,
    learn_use,
    new_learner,
    predicted,
)
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.pool import Pool, add, draw, listed, new_pool, remove, set_pinned_aside
from hitcurve.kernels.walk import begin_walk, oldest_unpinned
from hitcurve.policies.learning import MODEL, learning, model_fits, require_lightgbm
from hitcurve.policies.policy import Policy

N_DECAYED = 10
# Of residents: the clock at the last prediction, and what it was.
FACTS = np.dtype([("asked", np.float64), ("answer", np.float64)])


class Params(NamedTuple):
    window: float = 4.0  # blocks remembered, evicted ones included, as a multiple of the capacity
    n_samples: int = 64  # blocks drawn for each victim, with replacement
    every: int = 4  # accesses to one draw of an example
    examples: int = 16384  # labelled examples that a model is made of
    n_deltas: int = 32  # times between the latest uses, as features
    n_trees: int = 32  # of a model
    n_leaves: int = 32  # of a tree, at most
    leaf_examples: int = 20  # examples in a leaf, at least


class State(NamedTuple):
    params: Params
    seed: int
    learner: Learner
    pool: Pool  # the residents


def new_state(n_blocks, capacity, params, seed, context):
    require_lightgbm("lrb")
    least = min(params.n_samples, params.every, params.leaf_examples)
    if not (params.window >= 1 and least >= 1 and 0 <= params.n_deltas <= 255 and model_fits(params)):
        wanted = "window >= 1, n_samples, every and leaf_examples >= 1, n_deltas in 0 .. 255"
        raise BadParameter(f"lrb: wanted {wanted}, {MODEL}, found {params}")
    limit = min(int((params.window - 1) * capacity), 2**62)
    history = new_history(n_blocks, capacity, limit, limit, params.n_deltas, N_DECAYED)
    learner = new_learner(history, params.examples, params.n_trees, params.n_leaves, seed, params.every)
    return State(params, seed, learner, new_pool(n_blocks, capacity, FACTS))


@helper
def pause(state):
    return enough(state.learner)


@helper
def on_request(state, frame, now):
    draw_examples(state.learner, frame, now)


@helper
def on_allocate(state, frame, now):
    begin_walk(state.learner.history.queues, state.learner.history.passed)
    set_pinned_aside(state.pool, frame)


@helper
def on_hit(state, frame, block, position, now):
    renew(state.learner.history, block)
    learn_use(state.learner, frame, block, position)


@helper
def on_insert(state, frame, block, position, now):
    enter(state.learner.history, block)
    add(state.pool, block)
    learn_use(state.learner, frame, block, position)


@helper
def answer(state, slot, now):
    """The prediction for the block in a slot of the pool, made once in an allocation."""
    facts = state.pool.facts
    if facts[slot].asked != now:
        facts[slot].asked = now
        facts[slot].answer = predicted(state.learner, np.int64(state.pool.members[slot]), now)
    return facts[slot].answer


@part
def farthest(state, now):
    """Of the blocks drawn the one predicted to be used last, the deepest of several."""
    history = state.learner.history
    victim, latest, deepest = np.int64(-1), -np.inf, np.float32(-1)
    for _ in range(state.params.n_samples):
        slot = draw(state.pool, state.learner.random)
        block = np.int64(state.pool.members[slot])
        prediction = answer(state, slot, now)
        position = history.facts[history.slot[block], POSITION]
        if prediction > latest or (prediction == latest and position > deepest):
            victim, latest, deepest = block, prediction, position
    return victim


@helper
def evict(state, frame, now):
    learner = state.learner
    victim = oldest_unpinned(learner.history.queues, learner.history.passed, RESIDENT, frame)
    if has_model(learner) and last_use(learner.history, victim) >= learner.numbers[HORIZON]:
        victim = farthest(state, now)
    remove(state.pool, state.pool.slot[victim])
    learn_eviction(learner, frame, victim, now)
    return victim


@part
def serve(frame, state, begin, end):
    return replay_requests(
        frame, state, begin, end, on_allocate, on_hit, on_insert, evict, on_request=on_request, pause=pause
    )


def check(state, frame):
    resident = np.flatnonzero(frame.resident).tolist()
    assert sorted(listed(state.pool)) == resident
    assert set(remembered(state.learner.history)) >= set(resident)


POLICY = Policy(
    "lrb",
    family="learned",
    paper="Song et al., Learning Relaxed Belady, NSDI 2020",
    year=2020,
    new_state=new_state,
    replay=learning(serve),
    check=check,
    params=Params,
    needs=frozenset({"category"}),
    without={"category": "lrb knows no types and turns of requests on this trace, and learns from the rest"},
)
