"""vLLM's free queue: blocks of a finished request queue up last block first; the head of the queue goes.

vLLM keeps the blocks that no running request uses in one queue, with what they cache.  A request takes the blocks that
it reuses out of the queue, and new ones from its head, where the cached content is then lost.  When it has finished all
its blocks join the end, its last block first, so that the end of a prompt goes before its beginning.

Differs from the paper: engine behaviour, no paper.  Follows vLLM's V1 engine since v0.8 (its documentation's design
page on automatic prefix caching).
Differs from vLLM: requests run one after the other, each until it has finished.  There the last block of a prompt that
is cached whole is computed anew, partial last blocks and decoded ones take room in the queue but never hit, and a block
computed twice stands in it twice.  Pinned blocks are passed over, as if taken out.

This is ``lru`` with the deepest block accessed first, whatever the order of access.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.frame import REQUEST, is_pinned
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import Queues, back, listed, move_to_front, new_queues, newer, push_front, remove
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    queue: Queues  # its back is the head of vLLM's
    queued: np.ndarray  # uint8 (n_blocks,)
    walk: np.ndarray  # int64 [0]: next candidate of this allocation


def new_state(n_blocks, capacity, params, seed):
    return State(new_queues(n_blocks), np.zeros(n_blocks, np.uint8), np.zeros(1, np.int64))


@helper
def on_allocate(state, frame, now):
    state.walk[0] = back(state.queue, 0)


@helper
def evict(state, frame, now):
    victim = state.walk[0]
    while is_pinned(frame, victim):
        victim = newer(state.queue, victim)
    state.walk[0] = newer(state.queue, victim)
    remove(state.queue, 0, victim)
    state.queued[victim] = 0
    return victim


@helper
def on_path(state, frame, now):
    r = frame.numbers[REQUEST]
    for s in range(frame.span_offsets[r + 1] - 1, frame.span_offsets[r] - 1, -1):
        first = frame.span_first[s]
        for block in range(first + frame.span_length[s] - 1, first - 1, -1):
            if state.queued[block]:
                move_to_front(state.queue, 0, block)
            else:
                push_front(state.queue, 0, block)
                state.queued[block] = 1


@helper
def on_access(state, frame, block, position, now):
    pass


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_access, on_access, evict, nothing, on_path)


def check(state, frame):
    resident = np.flatnonzero(frame.resident).tolist()
    assert sorted(listed(state.queue, 0)) == np.flatnonzero(state.queued).tolist() == resident


POLICY = Policy(
    "vllm_free_queue", family="engine", paper="", year=None, new_state=new_state, replay=replay, check=check
)
