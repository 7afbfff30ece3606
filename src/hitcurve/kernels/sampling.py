"""Victims by sampling: of many draws from a pool, with replacement, the block with the lowest score goes.

A block's score stays as it is while the arriving request makes room, so where the draws for all victims will be more
than the blocks, each block's score is worked out once, and a draw only compares; else the drawn ones' are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import needed_blocks
from hitcurve.kernels.pool import DRAWABLE, remove, set_pinned_aside
from hitcurve.kernels.rng import many_below, seeded


class Draws(NamedTuple):
    rng: np.ndarray
    slots: np.ndarray  # uint32 (n_draws, or one more where that is odd): drawn for one victim
    n_draws: int
    scored: np.ndarray  # uint8 [0]: 1 where all scores are known in this allocation


def new_draws(n_draws: int, seed: int) -> Draws:
    return Draws(seeded(seed), np.zeros(n_draws + n_draws % 2, np.uint32), n_draws, np.zeros(1, np.uint8))


@part
def lowest(score, slots):
    """The slot with the lowest score of an even number of ``slots``; the first where several are.

    Every other one is compared by itself: a comparison waits for the one before.
    """
    even, odd = 0, 1
    least_even, least_odd = score[slots[0]], score[slots[1]]
    for i in range(2, len(slots), 2):
        one, other = score[slots[i]], score[slots[i + 1]]
        if one < least_even:
            even, least_even = i, one
        if other < least_odd:
            odd, least_odd = i + 1, other
    if least_odd < least_even or (least_odd == least_even and odd < even):
        even = odd
    return np.int64(slots[even])


@helper
def begin_search(state, frame, now, score_of):
    """An allocation begins.  ``state`` has a ``pool`` and ``draws``; ``score_of(state, slot, now)`` float64."""
    set_pinned_aside(state.pool, frame)
    drawable = state.pool.numbers[DRAWABLE]
    state.draws.scored[0] = needed_blocks(frame) * state.draws.n_draws >= drawable
    if state.draws.scored[0]:
        for slot in range(drawable):
            state.pool.score[slot] = score_of(state, slot, now)


@helper
def search(state, now, score_of):
    """Take a victim out of the pool and return it."""
    draws = state.draws
    many_below(draws.rng, state.pool.numbers[DRAWABLE], draws.slots)
    draws.slots[-1] = draws.slots[draws.n_draws - 1]  # one too many, where their number is odd
    if not draws.scored[0]:
        for slot in draws.slots:
            state.pool.score[slot] = score_of(state, slot, now)
    return remove(state.pool, lowest(state.pool.score, draws.slots))
