"""SLRU: several LRU queues one above the other; a hit lifts a block one segment, overflow sinks one.

Karedla, Love, Wherry: "Caching Strategies to Improve Disk System Performance", IEEE Computer 27(3), 1994.  Segments 1
and up hold an equal share of the capacity each; the oldest block of a full segment sinks to the front of the one below.
The victim is the oldest block of the lowest segment that has one.

Differs from the paper: four segments instead of two, and while the cache fills, new blocks enter the lowest segment
with room, as in libCacheSim.  A pinned block is passed over.
Differs from libCacheSim: segment 0 has no limit, so it takes what the division by ``segments`` leaves over and sinking
never evicts; capacities below ``segments`` work (as LRU).  No difference where the capacity divides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    is_sentinel,
    link_front,
    listed,
    new_queues,
    push_front,
    remove,
    unlink,
)
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned
from hitcurve.policies.policy import Policy


class Params(NamedTuple):
    segments: int = 4  # number of queues, at most 255


class State(NamedTuple):
    queues: Queues  # one a segment, the lowest first
    segment: np.ndarray  # uint8 (n_blocks,)
    passed: np.ndarray  # int64 (segments,): see kernels/walk.py
    limit: int  # blocks of a segment other than 0


def new_state(n_blocks, capacity, params, seed):
    if not 1 <= params.segments <= 255:
        raise BadParameter(f"slru: wanted 1 <= segments <= 255, found {params.segments}")
    queues = new_queues(n_blocks, params.segments)
    return State(queues, np.zeros(n_blocks, np.uint8), new_walk(queues), capacity // params.segments)


@helper
def on_allocate(state, frame, now):
    begin_walk(state.queues, state.passed)


@helper
def on_hit(state, frame, block, position, now):
    below = np.int64(state.segment[block])
    above = min(below + 1, len(state.queues.size) - 1)
    unlink(state.queues, block)
    link_front(state.queues, above, block)
    if above == below:
        return
    state.segment[block] = above
    if state.queues.size[above] < state.limit:
        state.queues.size[above] += 1
        state.queues.size[below] -= 1
    else:
        sunk = back(state.queues, above)
        unlink(state.queues, sunk)
        link_front(state.queues, below, sunk)
        state.segment[sunk] = below


@helper
def on_insert(state, frame, block, position, now):
    segment = 0
    while segment < len(state.queues.size) and state.queues.size[segment] >= state.limit:
        segment += 1
    if segment == len(state.queues.size):
        segment = 0
    push_front(state.queues, segment, block)
    state.segment[block] = segment


@helper
def evict(state, frame, now):
    segment = 0
    while True:
        block = oldest_unpinned(state.queues, state.passed, segment, frame)
        if not is_sentinel(state.queues, block):
            break
        segment += 1
    remove(state.queues, segment, block)
    return block


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict)


def check(state, frame):
    segments = [listed(state.queues, s) for s in range(len(state.queues.size))]
    assert sorted(block for blocks in segments for block in blocks) == np.flatnonzero(frame.resident).tolist()
    assert all((state.segment[blocks] == s).all() for s, blocks in enumerate(segments))
    assert all(len(blocks) <= state.limit for blocks in segments[1:])


POLICY = Policy(
    "slru",
    family="queue",
    paper="Karedla, Love, Wherry, Caching Strategies to Improve Disk System Performance, IEEE Computer 1994",
    year=1994,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
)
