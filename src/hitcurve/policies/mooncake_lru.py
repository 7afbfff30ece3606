"""Mooncake Store's eviction: in batches when the store is nearly full, oldest lease first, never under a lease.

An object, here a block, is under a lease for ``lease`` seconds after it was read; what was only written is not.  When
more than the share ``watermark`` of the store is in use, or a write finds no room, a share of the objects goes at once,
those first whose lease ended, or would have ended, longest ago: ``ratio``, and what is above the watermark on top.  The
check runs in the background, so it comes before each request is looked up, and its victims count as released.

Differs from the paper: engine behaviour, no paper.  Follows Mooncake Store 2.0 as its design page documents it
(eviction policy, lease): 0.95, 0.05 and 5 s are its defaults.
Differs from Mooncake: there a batch is cut at a quantile, so its order is approximate, and a write fails where all is
leased; here what is leased goes then, the shortest lease first.  No soft pins, as no trace tells of them.  The blocks
of a request are read and written root first, whatever the order of access.  Pinned blocks are passed over.

With ``watermark=1 ratio=0 lease=0`` this is ``lru`` with the root accessed first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import NEVER, OCCUPIED, PIN, REQUEST, capacity_of
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import Queues, is_sentinel, listed, new_queues, push_front, remove
from hitcurve.kernels.walk import begin_walk, new_walk, walk
from hitcurve.policies.policy import Policy, in_ns

WRITTEN, READ, ABSENT = 0, 1, 2  # the last thing that was done to a block
CLOCK, QUOTA = 0, 1  # places in ``numbers``: reads and writes so far, how many blocks the batch still takes


class Params(NamedTuple):
    watermark: float = 0.95  # share of the capacity above which blocks go before there is need
    ratio: float = 0.05  # share of the blocks that go at once
    lease: float = 5.0  # seconds after a read during which a block stays


class State(NamedTuple):
    queues: Queues  # WRITTEN and READ, each in order of lease_ns and turn
    passed: np.ndarray  # int64 (2,): see kernels/walk.py
    done: np.ndarray  # uint8 (n_blocks,): WRITTEN, READ or ABSENT
    lease_ns: np.ndarray  # int64 (n_blocks,): when the block's lease ends, or ended
    turn: np.ndarray  # int64 (n_blocks,): number of its last read or write
    numbers: np.ndarray  # int64: see the places above
    watermark: float
    ratio: float
    length_ns: int  # of a lease


def new_state(n_blocks, capacity, params, seed):
    for name in ("watermark", "ratio"):
        if not 0 <= getattr(params, name) <= 1:
            raise BadParameter(f"mooncake_lru: wanted 0 <= {name} <= 1, found {getattr(params, name)}")
    queues = new_queues(n_blocks, 2)
    return State(
        queues=queues,
        passed=new_walk(queues),
        done=np.full(n_blocks, ABSENT, np.uint8),
        lease_ns=np.zeros(n_blocks, np.int64),
        turn=np.zeros(n_blocks, np.int64),
        numbers=np.zeros(2, np.int64),
        watermark=params.watermark,
        ratio=params.ratio,
        length_ns=in_ns("mooncake_lru", "lease", params.lease),
    )


@helper
def on_request(state, frame, now):
    occupied = frame.numbers[OCCUPIED]
    above = occupied - state.watermark * capacity_of(frame)
    state.numbers[QUOTA] = np.int64(np.ceil(above + state.ratio * occupied)) if above > 0 else np.int64(0)
    begin_walk(state.queues, state.passed)


@helper
def on_allocate(state, frame, now):
    state.numbers[QUOTA] = np.int64(np.ceil(state.ratio * frame.numbers[OCCUPIED]))
    begin_walk(state.queues, state.passed)


@part
def choose(queues, passed, lease_ns, turn, requested, pins):
    """``oldest``, compiled once: the loop asks for it in four places."""
    written = walk(queues.links, passed, WRITTEN, requested, pins)
    read = walk(queues.links, passed, READ, requested, pins)
    if is_sentinel(queues, written) or is_sentinel(queues, read):
        return min(written, read)
    if lease_ns[written] == lease_ns[read]:
        return written if turn[written] < turn[read] else read
    return written if lease_ns[written] < lease_ns[read] else read


@helper
def oldest(state, frame):
    """The unpinned block whose lease ends first, or a sentinel."""
    return choose(state.queues, state.passed, state.lease_ns, state.turn, frame.requested, frame.numbers[PIN])


@helper
def take(state, block):
    remove(state.queues, np.int64(state.done[block]), block)
    state.done[block] = ABSENT
    state.numbers[QUOTA] -= 1


@helper
def evict(state, frame, now):
    block = oldest(state, frame)
    take(state, block)
    return block


@helper
def release(state, frame, now):
    block = np.int64(-1)
    if state.numbers[QUOTA] > 0:
        block = oldest(state, frame)
        if is_sentinel(state.queues, block) or state.lease_ns[block] > frame.arrival_ns[frame.numbers[REQUEST]]:
            state.numbers[QUOTA] = 0
            block = np.int64(-1)
        else:
            take(state, block)
    return block


@helper
def on_path(state, frame, now):
    r = frame.numbers[REQUEST]
    state.numbers[QUOTA] = 0
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        first = frame.span_first[s]
        for block in range(first, first + frame.span_length[s]):
            done = np.int64(WRITTEN)
            lease = frame.arrival_ns[r]
            if state.done[block] != ABSENT:
                remove(state.queues, np.int64(state.done[block]), block)
                done = np.int64(READ)
                lease = min(lease, NEVER - state.length_ns) + state.length_ns
            push_front(state.queues, done, block)
            state.done[block] = done
            state.lease_ns[block] = lease
            state.turn[block] = state.numbers[CLOCK]
            state.numbers[CLOCK] += 1


@helper
def on_access(state, frame, block, position, now):
    pass


@entry
def replay(frame, state, begin, end):
    return replay_requests(
        frame, state, begin, end, on_allocate, on_access, on_access, evict, on_request, on_path, release
    )


def check(state, frame):
    queues = [listed(state.queues, q) for q in (WRITTEN, READ)]
    assert sorted(block for blocks in queues for block in blocks) == np.flatnonzero(frame.resident).tolist()
    for q, blocks in enumerate(queues):
        assert (state.done[blocks] == q).all()
        assert (np.diff(state.lease_ns[blocks]) <= 0).all() and (np.diff(state.turn[blocks]) < 0).all()


POLICY = Policy(
    "mooncake_lru",
    family="engine",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    without={"time": "mooncake_lru: without times every lease lasts for ever, so what was only written goes first"},
)
