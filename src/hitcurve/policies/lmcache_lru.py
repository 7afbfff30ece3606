"""LMCache's LRU: chunks of 256 tokens, whole or not at all, the beginning of a prompt older than its end.

A chunk is the blocks that fill 256 tokens from a multiple of 256 on, and everything before them.  It is found whole or
not found, kept whole or evicted whole.  A request commits its chunks front to back, so of an old prompt the beginning
goes first, and what is left behind it cannot be found by an engine.  The blocks at the end of a prompt that fill no
chunk are never found.

Differs from the paper: engine behaviour, no paper.  Follows the simulator of LMCache (``lmcache tool cache-simulator``,
2026) and the default ``chunk_size``.  The store in CPU memory (v0.3 and later) touches the chunks it found back to
front, and appends new ones front to back.
Differs from LMCache: a block that stands in several chunks takes room once, there it is stored in each of them; and a
request has its whole path in the cache while it is served, the end that fills no chunk as well.  Pinned blocks, and so
the chunks of the arriving request, are passed over.

Blocks that the arriving request finds in other requests' chunks alone, and what was left over of the request before,
are freed before the request is looked up, and counted as released.  Where ids form no tree every block is a chunk.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import REQUEST, is_pinned
from hitcurve.kernels.loop import replay_requests
from hitcurve.kernels.queues import (
    Queues,
    back,
    listed,
    move_to_front,
    new_queues,
    newer,
    push_front,
    remove,
)
from hitcurve.policies.policy import Policy

CHUNK_TOKENS = 256
FREED, LAST = 0, 1  # places in ``numbers``: blocks to be named, the request before this one


class Params(NamedTuple):
    chunk: int = 0  # blocks of a chunk; 0: what fills 256 tokens, at least one; one where the block size is unknown


class State(NamedTuple):
    queue: Queues  # chunks, each as its last block
    held: np.ndarray  # uint8 (n_blocks,): the chunk that ends with the block is in the queue
    chunks: np.ndarray  # int32 (n_blocks,): chunks in the queue that hold the block
    parent: np.ndarray  # int32 (n_blocks,)
    walk: np.ndarray  # int64 [0]: next chunk to look at in this allocation
    freed: np.ndarray  # int32: blocks to be named as victims or as released, the last first
    numbers: np.ndarray  # int64: see the places above
    chunk: int


def new_state(n_blocks, capacity, params, seed, context):
    if params.chunk < 0:
        raise BadParameter(f"lmcache_lru: wanted chunk >= 0, found {params.chunk}")
    derived = max(1, CHUNK_TOKENS // context.block_size) if context.block_size else 1
    return State(
        queue=new_queues(n_blocks),
        held=np.zeros(n_blocks, np.uint8),
        chunks=np.zeros(n_blocks, np.int32),
        parent=context.parent,
        walk=np.zeros(1, np.int64),
        freed=np.zeros(min(n_blocks, capacity) + 1, np.int32),
        numbers=np.array([0, -1]),
        chunk=params.chunk or derived if context.tree else 1,
    )


@helper
def free(state, block):
    state.freed[state.numbers[FREED]] = block
    state.numbers[FREED] += 1


@helper
def chunked(state, frame, r):
    """How many blocks of the request stand in its own chunks."""
    return frame.full_blocks[r] // state.chunk * state.chunk


@helper
def on_request(state, frame, now):
    """Free what the request before left over, and what this one would find outside its own chunks."""
    r = frame.numbers[REQUEST]
    last = state.numbers[LAST]
    state.numbers[LAST] = r
    if last >= 0:
        left = frame.blocks[last] - chunked(state, frame, last)
        for s in range(frame.span_offsets[last + 1] - 1, frame.span_offsets[last] - 1, -1):
            for block in range(frame.span_first[s] + frame.span_length[s] - 1, frame.span_first[s] - 1, -1):
                if left > 0 and state.chunks[block] == 0 and frame.resident[block]:
                    free(state, block)
                left -= 1
            if left <= 0:
                break
    position = frame.blocks[r]
    found = np.uint8(0)
    for s in range(frame.span_offsets[r + 1] - 1, frame.span_offsets[r] - 1, -1):
        for block in range(frame.span_first[s] + frame.span_length[s] - 1, frame.span_first[s] - 1, -1):
            position -= 1
            if position < chunked(state, frame, r) and position % state.chunk == state.chunk - 1:
                found = state.held[block]
            if not found and state.chunks[block] and frame.resident[block]:
                free(state, block)


@helper
def on_allocate(state, frame, now):
    state.walk[0] = back(state.queue, 0)


@helper
def evict_chunk(state, frame):
    """Free the blocks of the oldest chunk that no other chunk holds."""
    block = state.walk[0]
    while is_pinned(frame, block):
        block = newer(state.queue, block)
    state.walk[0] = newer(state.queue, block)
    remove(state.queue, 0, block)
    state.held[block] = 0
    for _ in range(state.chunk):
        state.chunks[block] -= 1
        if state.chunks[block] == 0 and frame.resident[block] and not is_pinned(frame, block):
            free(state, block)
        block = np.int64(state.parent[block])


@helper
def release(state, frame, now):
    if state.numbers[FREED] == 0:
        return np.int64(-1)
    state.numbers[FREED] -= 1
    return np.int64(state.freed[state.numbers[FREED]])


@helper
def evict(state, frame, now):
    if state.numbers[FREED] == 0:
        evict_chunk(state, frame)
    return release(state, frame, now)


@helper
def on_path(state, frame, now):
    """The request's chunks become the newest, front to back."""
    r = frame.numbers[REQUEST]
    position = 0
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        for last in range(frame.span_first[s], frame.span_first[s] + frame.span_length[s]):
            position += 1
            if position % state.chunk or position > chunked(state, frame, r):
                continue
            if state.held[last]:
                move_to_front(state.queue, 0, last)
                continue
            push_front(state.queue, 0, last)
            state.held[last] = 1
            block = np.int64(last)
            for _ in range(state.chunk):
                state.chunks[block] += 1
                block = np.int64(state.parent[block])


@helper
def on_access(state, frame, block, position, now):
    pass


@entry
def replay(frame, state, begin, end):
    return replay_requests(
        frame, state, begin, end, on_allocate, on_access, on_access, evict, on_request, on_path, release
    )


def check(state, frame):
    assert state.numbers[FREED] == 0
    ends = listed(state.queue, 0)
    assert sorted(ends) == np.flatnonzero(state.held).tolist()
    chunks = np.zeros(len(state.chunks), np.int64)
    blocks = np.array(ends, np.int64)
    for _ in range(state.chunk if ends else 0):
        np.add.at(chunks, blocks, 1)
        blocks = state.parent[blocks].astype(np.int64)
    assert (state.chunks == chunks).all(), "a count of chunks is wrong"
    assert frame.resident[chunks > 0].all(), "a chunk is not whole"
    left = np.flatnonzero(frame.resident & (chunks == 0))
    r = frame.numbers[REQUEST]
    spans = slice(frame.span_offsets[r], frame.span_offsets[r + 1])
    for block in left:
        firsts, lengths = frame.span_first[spans], frame.span_length[spans]
        assert ((firsts <= block) & (block < firsts + lengths)).any(), "a block that nobody holds"


POLICY = Policy(
    "lmcache_lru", family="engine", paper="", year=None, new_state=new_state, replay=replay, check=check, params=Params,
    needs=frozenset({"tree"}), without={"tree": "lmcache_lru: these ids form no tree, so every block is a chunk"},
)  # fmt: skip
