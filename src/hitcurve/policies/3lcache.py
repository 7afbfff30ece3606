"""3L-Cache: learn when blocks are used next; ask only about unpopular blocks, from both ends, and evict half of them.

Zhou, Niu, Xiong, Fang, Wang: "3L-Cache: Low Overhead and Precise Learning-based Eviction Policy for Caches", FAST 2025.
Examples are drawn, labelled and learnt from as in LRB, with fewer features (age, three times between uses, uses), half
as many trees, and, once there is a model, one label in 4.  Candidates are asked about in batches, of up to 1024 blocks
or a hundredth of the residents: new blocks, while there are more of them than are granted a stay; and, by a hand that
passes over the residents from the old end, blocks that are not popular, and of the oldest ones all.  Half as many
victims as a batch has candidates are taken, the one predicted to be used last first; then another batch is asked about.
Who is left over stays a candidate until it is used or the pass ends.  Before the first model it is LRU.

At the end of a pass it tunes itself: what is popular, which share of the residents counts as oldest, which share of new
blocks is granted a stay (``kernels/candidates.py``).  The window, 2 to 6 times the capacity in blocks remembered, grows
by one capacity where each one beyond the first sees more than a hundredth as many uses as there were hits.

Needs LightGBM (``pip install 'hitcurve[learned]'``).  Past accesses alone are learnt from.  The same seed gives the
same result on the same machine with the same version of LightGBM.

Differs from the paper: sizes are 1, so in their place the position of the block and the type and turn of the request
(as one number) are features.  The rules of the tuning are those of the authors' program, put simply.  One access in 4
draws, and a model is made of a quarter of the examples (parameters).  A block forgotten is labelled with its age plus
the longest age at which one was forgotten; no example counts before the window could have been full.  All blocks of a
request are used at one time.  Among equal predictions the deepest block goes.  Pinned blocks are no candidates.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.candidates import (
    NEW,
    OLDEST,
    OTHER,
    POPULAR,
    Candidates,
    add_new,
    among_the_oldest,
    at_its_end,
    begin_pass,
    check_candidates,
    count_victim,
    drop,
    look,
    new_candidates,
    propose,
    step_over,
    take_first,
    take_oldest_new,
    too_many_new,
    tune,
    withdraw,
)
from hitcurve.kernels.frame import PIN
from hitcurve.kernels.heap import float_key
from hitcurve.kernels.history import POSITION, RESIDENT, USES, enter, new_history, remembered, renew
from hitcurve.kernels.learner import (
    Learner,
    draw_examples,
    enough,
    has_model,
    learn_eviction,
    learn_use,
    new_learner,
    predicted,
    remember_more,
)
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import listed
from hitcurve.kernels.walk import begin_walk, oldest_unpinned
from hitcurve.policies.learning import MODEL, learning, model_fits, require_lightgbm
from hitcurve.policies.policy import Policy

N_DELTAS = 3
QUOTA, WINDOW, HITS, EVICTED_HITS = range(4)  # places in State.numbers


class Params(NamedTuple):
    window: int = 6  # blocks remembered, evicted ones included, at most, as a multiple of the capacity
    batch: int = 1024  # candidates asked about at a time, at most
    every: int = 4  # accesses to one draw of an example
    kept: int = 4  # labels to one that is kept, once there is a model
    examples: int = 16384  # labelled examples that a model is made of
    n_trees: int = 16  # of a model
    n_leaves: int = 32  # of a tree, at most
    leaf_examples: int = 20  # examples in a leaf, at least


class State(NamedTuple):
    params: Params
    seed: int
    capacity: int
    learner: Learner
    candidates: Candidates
    numbers: np.ndarray  # int64: victims that the batch is still good for, the window, uses in the cache and beyond


def new_state(n_blocks, capacity, params, seed, context):
    require_lightgbm("3lcache")
    least = min(params.batch, params.every, params.kept, params.leaf_examples)
    if not (2 <= params.window <= 64 and least >= 1 and model_fits(params)):
        wanted = "window in 2 .. 64, batch, every, kept and leaf_examples >= 1"
        raise BadParameter(f"3lcache: wanted {wanted}, {MODEL}, found {params}")
    history = new_history(n_blocks, capacity, capacity, (params.window - 1) * capacity, N_DELTAS)
    learner = new_learner(history, params.examples, params.n_trees, params.n_leaves, seed, params.every, params.kept)
    numbers = np.array([0, 2, 0, 0], np.int64)
    return State(params, seed, capacity, learner, new_candidates(n_blocks, capacity), numbers)


@helper
def pause(state):
    return enough(state.learner)


@helper
def on_request(state, frame, now):
    draw_examples(state.learner, frame, now)


@helper
def on_allocate(state, frame, now):
    begin_walk(state.learner.history.queues, state.learner.history.passed)


@helper
def on_hit(state, frame, block, position, now):
    step_over(state.candidates, state.learner.history.queues, block)
    withdraw(state.candidates, block)
    state.numbers[HITS] += 1
    renew(state.learner.history, block)
    learn_use(state.learner, frame, block, position)


@helper
def on_insert(state, frame, block, position, now):
    if state.learner.history.slot[block] >= 0:
        state.numbers[EVICTED_HITS] += 1
    enter(state.learner.history, block)
    learn_use(state.learner, frame, block, position)
    if has_model(state.learner):
        add_new(state.candidates, block)


@part
def ask(state, block, reason, now):
    """Predict when the block is used next, and make it a candidate."""
    history = state.learner.history
    next_use = now + exp(predicted(state.learner, block, now)) - 1
    position = np.int64(history.facts[history.slot[block], POSITION])
    propose(state.candidates, block, reason, float_key(-next_use), block - (position << 32))


@helper
def end_pass(state):
    numbers, candidates = state.numbers, state.candidates
    tune(candidates)
    begin_pass(candidates, state.learner.history.queues)
    more = 100 * numbers[EVICTED_HITS] > (numbers[WINDOW] - 1) * numbers[HITS]
    if more and numbers[WINDOW] < state.params.window:
        numbers[WINDOW] += 1
        remember_more(state.learner, state.capacity)
    numbers[HITS] = 0
    numbers[EVICTED_HITS] = 0


# Compiled calls take of the frame what they need: it has many arrays, and compiling a call takes time for each.


@part
def ask_a_batch(state, requested, pins, now):
    """Candidates from both ends, and how many victims they are good for.  Begins another pass once at most."""
    candidates, history = state.candidates, state.learner.history
    residents = history.queues
    n = min(state.params.batch, residents.size[RESIDENT] // 100 + 2)
    new = found = ended = 0
    while too_many_new(candidates, residents, 1) and 2 * new < 3 * n:
        block = take_oldest_new(candidates)
        if not (pins and requested[block]):
            ask(state, block, np.int64(NEW), now)
            new += 1
    while found < n and not too_many_new(candidates, residents, 10):
        if at_its_end(candidates, residents):
            if ended:
                break
            end_pass(state)
            ended, new, found = 1, 0, 0
        block = look(candidates, residents)
        oldest = among_the_oldest(candidates)
        unpopular = history.facts[history.slot[block], USES] <= candidates.numbers[POPULAR]
        if (oldest or unpopular) and not (pins and requested[block]):
            ask(state, block, np.int64(OLDEST if oldest else OTHER), now)
            found += 1
    state.numbers[QUOTA] = max(1, (new + found) // 2)


@part
def best_candidate(state, requested, pins, now):
    """The candidate that is used last, as far as predicted; -1 where there is none, even after asking."""
    candidates, history = state.candidates, state.learner.history
    for _ in range(2):
        if state.numbers[QUOTA] <= 0 or candidates.heap.slots[0] == 0:
            ask_a_batch(state, requested, pins, now)
        while candidates.heap.slots[0] > 0:
            block = take_first(candidates)
            if not (pins and requested[block]):
                state.numbers[QUOTA] -= 1
                count_victim(candidates, block, np.int64(history.facts[history.slot[block], USES]))
                return block
    return np.int64(-1)


@helper
def evict(state, frame, now):
    history = state.learner.history
    victim = np.int64(-1)
    if has_model(state.learner):
        victim = best_candidate(state, frame.requested, frame.numbers[PIN], now)
    if victim < 0:
        victim = oldest_unpinned(history.queues, history.passed, RESIDENT, frame)
    drop(state.candidates, history.queues, victim)
    learn_eviction(state.learner, frame, victim, now)
    return victim


@part
def serve(frame, state, begin, end):
    return replay_requests(
        frame, state, begin, end, on_allocate, on_hit, on_insert, evict, on_request=on_request, pause=pause
    )


def check(state, frame):
    history, resident = state.learner.history, np.flatnonzero(frame.resident).tolist()
    assert set(remembered(history)) >= set(resident)
    assert sorted(listed(history.queues, RESIDENT)) == resident
    check_candidates(state.candidates, history.queues)


POLICY = Policy(
    "3lcache",
    family="learned",
    paper="Zhou et al., 3L-Cache, FAST 2025",
    year=2025,
    new_state=new_state,
    replay=learning(serve),
    check=check,
    params=Params,
    needs=frozenset({"category"}),
    without={"category": "3lcache knows no types and turns of requests on this trace, and learns from the rest"},
)
