"""What learned policies share: examples of the past, labelled by themselves, and a model that is asked about blocks.

    drawn      once the cache has been full: one remembered block for every so many accesses, each equally likely
    waits      until it is used again or forgotten, one example of a block at a time
    labelled   with log(1 + accesses from the draw to the use); a block forgotten, with its age plus the longest age at
               which any was forgotten
    learnt     when there are enough examples the loop pauses, and trees are made of them (policies/learning.py)

Nothing about a block changes while it waits, so its features as of the draw are written down with the label.  Labels
count once there were as many evictions as evicted blocks are remembered: before, blocks were used again but none was
forgotten, and who learns from that alone believes that everything returns.
"""

from __future__ import annotations

from math import log1p
from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import REQUEST, request_stamp
from hitcurve.kernels.history import (
    History,
    describe,
    forget,
    last_use,
    leave,
    n_features,
    note_use,
    oldest_evicted,
    one_too_many,
)
from hitcurve.kernels.rng import below, seeded
from hitcurve.kernels.trees import Trees, new_trees, predict

N, FULL, HORIZON, LONGEST, EARLY = range(5)  # places in ``numbers``
FIRST = np.int64(0)  # row; numba compiles anew for a plain number


class Learner(NamedTuple):
    history: History
    features: np.ndarray  # float32 (room, n_features): of the labelled examples, [N] of them
    labels: np.ndarray  # float32 (room,)
    trees: Trees
    row: np.ndarray  # float32 (1, n_features): of the block asked about
    random: np.ndarray
    numbers: np.ndarray  # int64: [N]; [FULL] 1 once there was an eviction; of forgotten blocks the latest last use
    #                      [HORIZON] and the longest age [LONGEST]; [EARLY] evictions to come before labels count
    every: int  # accesses to a draw
    kept: int  # labels to one that is kept, once there is a model


def new_learner(
    history: History, n_examples: int, n_trees: int, n_leaves: int, seed: int, every: int, kept: int = 1
) -> Learner:
    """Nothing learnt yet; a model will be made of ``n_examples``."""
    width = n_features(history)
    return Learner(
        history,
        features=np.zeros((n_examples, width), np.float32),
        labels=np.zeros(n_examples, np.float32),
        trees=new_trees(n_trees, n_leaves),
        row=np.zeros((1, width), np.float32),
        random=seeded(seed),
        numbers=np.array([0, 0, 0, 0, history.limit[0]], np.int64),
        every=every,
        kept=kept,
    )


@helper
def enough(learner):
    """Whether a model is due; until it is made, further examples are lost."""
    return learner.numbers[N] == len(learner.labels)


@helper
def has_model(learner):
    return learner.trees.n_trees[0] > 0


@helper
def predicted(learner, block, now):
    """log(1 + accesses from now to the next use), as far as the model can tell."""
    describe(learner.history, block, now, learner.row, FIRST)
    return predict(learner.trees, learner.row, FIRST)


@part
def draw_slots(random, sampled, size, n, now):
    for _ in range(n):
        s = below(random, size)
        if sampled[s] < 0:
            sampled[s] = now


@helper
def draw_examples(learner, frame, now):
    """A request arrives: draw for its accesses.  Blocks that wait already are not drawn again."""
    if learner.numbers[FULL]:
        n = request_stamp(frame) // learner.every - now // learner.every
        draw_slots(learner.random, learner.history.sampled, learner.history.size[0], n, now)


@helper
def waits(learner, block):
    s = learner.history.slot[block]
    return s >= 0 and learner.history.sampled[s] >= 0


@part
def label(learner, block, time):
    """The block, which waits, stayed unused for so long after it was drawn."""
    history, n = learner.history, learner.numbers[N]
    s = history.slot[block]
    wanted = learner.kept == 1 or not has_model(learner) or below(learner.random, learner.kept) == 0
    if wanted and learner.numbers[EARLY] == 0 and not enough(learner):
        describe(history, np.int64(block), history.sampled[s], learner.features, n)
        learner.labels[n] = log1p(time)
        learner.numbers[N] = n + 1
    history.sampled[s] = -1


@helper
def learn_use(learner, frame, block, position):
    """The arriving request uses the block."""
    now = request_stamp(frame)
    if waits(learner, block):
        label(learner, block, now - learner.history.sampled[learner.history.slot[block]])
    note_use(learner.history, block, position, frame.context.category[frame.numbers[REQUEST]], now)


@part
def learn_end(learner, block, now):
    """The evicted block, out of its queue already, is forgotten."""
    history, numbers = learner.history, learner.numbers
    age = now - last_use(history, block)
    numbers[HORIZON] = max(numbers[HORIZON], last_use(history, block))
    numbers[LONGEST] = max(numbers[LONGEST], age)
    if waits(learner, block):
        label(learner, block, numbers[LONGEST] + age)
    forget(history, block)


@helper
def learn_eviction(learner, frame, victim, now):
    """The resident block is evicted; where one too many are remembered then, the oldest is forgotten."""
    history, numbers = learner.history, learner.numbers
    numbers[FULL] = 1
    numbers[EARLY] = max(0, numbers[EARLY] - 1)
    leave(history, victim)
    if one_too_many(history):
        learn_end(learner, oldest_evicted(history, frame), now)


@helper
def remember_more(learner, blocks):
    """From now on remember so many evicted blocks more."""
    learner.history.limit[0] += blocks
    learner.numbers[EARLY] += blocks
