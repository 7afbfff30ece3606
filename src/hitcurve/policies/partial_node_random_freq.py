"""Partial nodes by frequency: as partial_node_random_compute, but a block that was hit often counts that much more.

PrefixSim's policy.  Draw 32 nodes of the prefix tree, evict a piece of the cheapest from its head; a node scores what
its representative block scores: (hits since it became resident + 1) x cost / time since its last access.  Pieces,
modes, representatives and ties: see partial_node_random_compute.

Differs from the paper: folklore, no paper.  Pinned blocks count as missing while room is made; PrefixSim evicts them.
Draws are uniform, from another generator.  Under identity raw a block stays on the path that brought it, with its cost
there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.bits import members
from hitcurve.kernels.frame import request_stamp
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.node_batches import Batches, begin_batches, call_begins, evict_from_node, new_batches
from hitcurve.kernels.prefix_tree import PrefixTree, listed, new_prefix_tree
from hitcurve.kernels.tree_blocks import set_pinned_aside, take_request
from hitcurve.policies.policy import Policy


class Params(NamedTuple):
    n_sample: int = 32  # nodes drawn for each piece, with replacement
    evict_from: Literal["head", "tail"] = "head"  # the end of a node that pieces are taken from
    micro_batch: int = 64  # blocks of a piece, at most, in mode micro
    mode: Literal["micro", "drain"] = "micro"  # pieces of limited size, or all that is wanted from one node


class State(NamedTuple):
    tree: PrefixTree
    batches: Batches
    touched: np.ndarray  # int64 (n_blocks,): clock after the last request that held the block
    hits: np.ndarray  # int64 (n_blocks,): since the block became resident


def new_state(n_blocks, capacity, params, seed):
    if params.n_sample < 1 or params.micro_batch < 1:
        raise BadParameter(f"partial_node_random_freq: wanted n_sample >= 1 and micro_batch >= 1, found {params}")
    drain = params.mode == "drain"
    return State(
        new_prefix_tree(n_blocks, capacity, deep_end=params.evict_from == "tail"),
        new_batches(params.n_sample, capacity if drain else params.micro_batch, whole=drain, seed=seed),
        touched=np.zeros(n_blocks, np.int64),
        hits=np.zeros(n_blocks, np.int64),
    )


@helper
def on_allocate(state, frame, now):
    begin_batches(state.batches)
    set_pinned_aside(state.tree, frame)


@helper
def on_path(state, frame, now):
    take_request(state.tree, frame, offered=True)


@helper
def touch(state, frame, block, hits):
    state.hits[block] = hits
    state.touched[block] = request_stamp(frame)


@helper
def on_hit(state, frame, block, position, now):
    touch(state, frame, block, state.hits[block] + 1)


@helper
def on_insert(state, frame, block, position, now):
    touch(state, frame, block, 0)


@helper
def score(state, frame, block, depth, now):
    return (state.hits[block] + 1) * frame.cost[depth] / max(1, now - state.touched[block])


@helper
def evict(state, frame, now):
    call_begins(state.batches, frame)
    return evict_from_node(state, frame, now, score)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict, nothing, on_path)


def check(state, frame):
    listed(state.tree)
    resident = np.flatnonzero(frame.resident).tolist()
    assert members(state.tree.resident) == members(state.tree.drawable) == resident


POLICY = Policy(
    "partial_node_random_freq",
    family="prefix tree",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost"}),
)
