"""CLOCK: one queue in order of insertion; a block used since its last turn gets another one.

Corbato: "A Paging Experiment with the Multics System", MIT Project MAC report MAC-M-384, 1968.  A hit raises the
block's counter, up to what ``bits`` bits hold.  To evict, the oldest block with a counter above 0 loses one count and
becomes the newest; the first block found at 0 goes.

Differs from the paper: a counter of ``bits`` bits instead of one use bit, and a queue that moves instead of a hand
(the same order).  A pinned block is passed over: it keeps its place and its count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, listed, new_queues, push_front
from hitcurve.kernels.walk import begin_walk, new_walk, take_spent
from hitcurve.policies.policy import Policy


class Params(NamedTuple):
    bits: int = 1  # width of the counter: it counts to 2**bits - 1; at most 8
    initial: int = 0  # counter of a new block


class State(NamedTuple):
    queue: Queues
    counter: np.ndarray  # uint8 (n_blocks,)
    passed: np.ndarray  # int64 (1,): see kernels/walk.py
    initial: int
    most: int


def new_state(n_blocks, capacity, params, seed):
    queue = new_queues(n_blocks)
    if not (1 <= params.bits <= 8 and 0 <= params.initial < 2**params.bits):
        raise BadParameter(f"clock: wanted 1 <= bits <= 8 and 0 <= initial < 2**bits, found {params}")
    counter = np.zeros(n_blocks, np.uint8)
    return State(queue, counter, new_walk(queue), params.initial, 2**params.bits - 1)


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queue, state.passed)


@helper
def on_hit(state, frame, block, position, now):
    if state.counter[block] < state.most:
        state.counter[block] += 1


@helper
def on_insert(state, frame, block, position, now):
    push_front(state.queue, 0, block)
    state.counter[block] = state.initial


@helper
def evict(state, frame, now):
    return take_spent(state.queue, state.passed, 0, state.counter, state.most, frame)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    assert sorted(listed(state.queue, 0)) == np.flatnonzero(frame.resident).tolist()
    assert (state.counter <= state.most).all()


POLICY = Policy(
    "clock",
    family="queue",
    paper="Corbato, A Paging Experiment with the Multics System, MIT Project MAC 1968",
    year=1968,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
