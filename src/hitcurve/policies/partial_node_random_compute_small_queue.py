"""Partial nodes by compute behind a small queue: only blocks that were hit twice, or came back, are weighed by cost.

PrefixSim's policy, in the shape of S3-FIFO (Yang et al., SOSP 2023).  New blocks enter a small FIFO.  One that the
ghost FIFO remembers goes straight to the main part, as do those that find the small queue full before the first
eviction.  Room comes from the small queue while the main part is within its share: the oldest block moves to the main
part if it was hit ``threshold`` times, and counts as accessed then; else it is evicted and remembered.  After that,
until enough blocks are gone, room comes from the main part as in partial_node_random_compute, or, where that has no
block to give, from the small queue again.

``small_evict=cost``      of the ``small_window`` blocks from the oldest on, leaving out those with enough hits, the one
                          with the lowest cost / time since its last access is evicted
``small_bypass_mult``     a new block that costs more than that many times the mean goes to the main part
``adaptive_step``         the small queue's share moves.  A block that comes back from the ghost of the small queue adds
                          to it, one from the ghost of the main part, kept only for this, takes away:
                          step x max(1, blocks in the other ghost / in its own) x (its cost / mean, within 0.1 .. 10)

Differs from the paper: folklore, no paper.  Decided here, as PrefixSim does not say: the mean is that of all blocks
that became resident before, 0 at first; a block that either ghost remembers goes to the main part; both ghosts have the
same limit; the moving share is at least 1 block, at most all but one, and takes the place of the fixed one in every
rule.  The small queue has at least 1 block.  A node stays in the tree while any of its blocks is resident, also in the
small queue, so there is no block whose path is forgotten.
Pinned blocks count as missing while room is made, and are passed over in the queues; PrefixSim evicts them.  Draws are
uniform, from another generator.  Under identity raw a block stays on the path that brought it, with its cost there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.bits import members
from hitcurve.kernels.frame import OCCUPIED, capacity_of, is_pinned, request_stamp
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.node_batches import (
    Batches,
    begin_batches,
    call_begins,
    count_victim,
    evict_from_node,
    new_batches,
)
from hitcurve.kernels.prefix_tree import SIZE, PrefixTree, depth_of, new_prefix_tree, stretch_of
from hitcurve.kernels.prefix_tree import listed as listed_nodes
from hitcurve.kernels.queues import Queues, is_sentinel, listed, new_queues, newer, put, take
from hitcurve.kernels.tree_blocks import expel, offer, set_pinned_aside, take_request
from hitcurve.kernels.walk import begin_walk, new_walk, oldest_unpinned, remember
from hitcurve.policies.policy import Policy

SMALL, GHOST, MAIN_GHOST, MAIN, NOWHERE = np.arange(5)  # where a block is; the first three are queues
SUM, COUNT = 0, 1
NAME = "partial_node_random_compute_small_queue"


class Params(NamedTuple):
    n_sample: int = 32  # nodes drawn for each piece, with replacement
    evict_from: Literal["head", "tail"] = "head"  # the end of a node that pieces are taken from
    micro_batch: int = 64  # blocks of a piece, at most, in mode micro
    mode: Literal["micro", "drain"] = "micro"  # pieces of limited size, or all that is wanted from one node
    small: float = 0.1  # share of the capacity for the small queue
    ghost: float = 0.9  # blocks remembered, as a share of the capacity
    threshold: int = 2  # hits in the small queue that lead to the main part
    small_evict: Literal["fifo", "cost"] = "fifo"  # which block of the small queue goes: the oldest, or the cheapest
    small_window: int = 64  # blocks of the small queue that small_evict=cost compares
    small_bypass_mult: float = 0.0  # new blocks dearer than that many times the mean pass it by; 0: none does
    adaptive_step: float = 0.0  # of the border, when a ghost's block comes back; 0: it stays


class State(NamedTuple):
    tree: PrefixTree  # drawable: blocks of the main part
    batches: Batches
    queues: Queues  # SMALL, GHOST, MAIN_GHOST
    passed: np.ndarray  # int64 (3,): see kernels/walk.py
    place: np.ndarray  # uint8 (n_blocks,)
    touched: np.ndarray  # int64 (n_blocks,): clock after the last request that held the block
    hits: np.ndarray  # int32 (n_blocks,): since the block became resident
    share: np.ndarray  # float64 [0]: blocks of the small queue
    costs: np.ndarray  # int64 (2,): SUM and COUNT of the blocks that became resident
    evicted: np.ndarray  # uint8 [0]: 1 after the first eviction
    draining: np.ndarray  # uint8 [0]: 1 while room comes from the small queue first
    threshold: int
    window: int  # 1: the oldest goes
    ghost_limit: int
    bypass: float
    step: float


def new_state(n_blocks, capacity, params, seed):
    if params.n_sample < 1 or params.micro_batch < 1 or params.small_window < 1:
        raise BadParameter(f"{NAME}: wanted n_sample, micro_batch and small_window >= 1, found {params}")
    least = min(params.ghost, params.threshold, params.small_bypass_mult, params.adaptive_step)
    if not (0 <= params.small <= 1 and least >= 0):
        raise BadParameter(f"{NAME}: wanted 0 <= small <= 1 and the other numbers >= 0, found {params}")
    drain = params.mode == "drain"
    queues = new_queues(n_blocks, 3)
    return State(
        new_prefix_tree(n_blocks, capacity, deep_end=params.evict_from == "tail"),
        new_batches(params.n_sample, capacity if drain else params.micro_batch, whole=drain, seed=seed),
        queues,
        passed=new_walk(queues),
        place=np.full(n_blocks, NOWHERE, np.uint8),
        touched=np.zeros(n_blocks, np.int64),
        hits=np.zeros(n_blocks, np.int32),
        share=np.array([max(1.0, float(int(capacity * params.small)))]),
        costs=np.zeros(2, np.int64),
        evicted=np.zeros(1, np.uint8),
        draining=np.zeros(1, np.uint8),
        threshold=params.threshold,
        window=params.small_window if params.small_evict == "cost" else 1,
        ghost_limit=int(capacity * params.ghost),
        bypass=params.small_bypass_mult,
        step=params.adaptive_step,
    )


@helper
def on_allocate(state, frame, now):
    begin_batches(state.batches)
    begin_walk(state.queues, state.passed)
    state.evicted[0] = 1
    set_pinned_aside(state.tree, frame)


@helper
def on_path(state, frame, now):
    take_request(state.tree, frame, offered=False)


@helper
def on_hit(state, frame, block, position, now):
    state.hits[block] += 1
    state.touched[block] = request_stamp(frame)


@helper
def on_insert(state, frame, block, position, now):
    state.hits[block] = 0
    state.touched[block] = request_stamp(frame)
    if is_for_main(state, frame, np.int64(block), frame.cost[position]):
        state.place[block] = MAIN
        offer(state.tree, block)
    else:
        state.place[block] = SMALL
        put(state.queues, SMALL, block)
    state.costs[SUM] += frame.cost[position]
    state.costs[COUNT] += 1


@helper
def is_for_main(state, frame, block, cost):
    """Where a new block goes; a remembered one is so no longer."""
    place = np.int64(state.place[block])
    if place in (GHOST, MAIN_GHOST):
        if state.step > 0:
            move_border(state, frame, place, cost)
        take(state.queues, place, block)
        return True
    if state.evicted[0] == 0 and state.queues.size[SMALL] >= int(state.share[0]):
        return True
    return state.bypass > 0 and cost > state.bypass * mean_cost(state)


@helper
def mean_cost(state):
    """Of all blocks that became resident so far; 0 before the first."""
    return state.costs[SUM] / max(1, state.costs[COUNT])


@helper
def move_border(state, frame, ghost, cost):
    own, other = state.queues.size[ghost], state.queues.size[GHOST + MAIN_GHOST - ghost]
    mean = mean_cost(state)
    worth = min(max(cost / mean, 0.1), 10.0) if mean > 0 else 1.0
    change = state.step * max(1.0, other / own) * worth
    share = state.share[0] + (change if ghost == GHOST else -change)
    state.share[0] = max(1.0, min(share, capacity_of(frame) - 1.0))


@helper
def score(state, frame, block, depth, now):
    return frame.cost[depth] / max(1, now - state.touched[block])


@helper
def cheapest(state, frame, oldest, now):
    """Of the window that begins with the oldest block that may go."""
    chosen, lowest = oldest, np.inf
    block = oldest
    for _ in range(state.window):
        if is_sentinel(state.queues, block):
            break
        if state.hits[block] < state.threshold and not is_pinned(frame, block):
            depth = depth_of(state.tree, stretch_of(state.tree, block), block)
            value = score(state, frame, block, depth, now)
            if value < lowest:
                chosen, lowest = block, value
        block = newer(state.queues, block)
    return chosen


@helper
def evict_small(state, frame, block, now):
    """A victim of the small queue, whose oldest block that may go is ``block``; -1 where that one is promoted."""
    if state.hits[block] >= state.threshold:
        take(state.queues, SMALL, block)
        state.place[block] = MAIN
        state.touched[block] = now
        offer(state.tree, block)
        return np.int64(-1)
    if state.window > 1:
        block = cheapest(state, frame, block, now)
    take(state.queues, SMALL, block)
    expel(state.tree, block)
    count_victim(state.batches, frame, block)
    return block


@helper
def evict(state, frame, now):
    if call_begins(state.batches, frame):
        state.draining[0] = 1
    oldest = oldest_unpinned(state.queues, state.passed, SMALL, frame)
    main = frame.numbers[OCCUPIED] - state.queues.size[SMALL]
    if is_sentinel(state.queues, oldest) or main > capacity_of(frame) - int(state.share[0]):
        state.draining[0] = 0
    if state.draining[0] or state.tree.numbers[SIZE] == 0:
        victim, ghost = evict_small(state, frame, oldest, now), GHOST
    else:
        victim, ghost = evict_from_node(state, frame, now, score), MAIN_GHOST if state.step > 0 else NOWHERE
    if victim >= 0:
        state.place[victim] = NOWHERE
        if ghost != NOWHERE:
            remember(state.queues, state.passed, ghost, state.ghost_limit, state.place, NOWHERE, victim, frame)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict, nothing, on_path)


def check(state, frame):
    listed_nodes(state.tree)
    resident = np.flatnonzero(frame.resident).tolist()
    main = np.flatnonzero(state.place == MAIN).tolist()
    queues = [sorted(listed(state.queues, int(q))) for q in (SMALL, GHOST, MAIN_GHOST)]
    assert queues == [np.flatnonzero(state.place == q).tolist() for q in (SMALL, GHOST, MAIN_GHOST)]
    assert members(state.tree.drawable) == main and members(state.tree.resident) == resident
    assert sorted(queues[SMALL] + main) == resident
    assert max(len(queues[GHOST]), len(queues[MAIN_GHOST])) <= state.ghost_limit


POLICY = Policy(
    NAME,
    family="prefix tree",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost"}),
)
