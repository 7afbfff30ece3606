"""Leaf LFU: evict the leaf used by the fewest requests since it became resident; of equals, the least recent.

Blocks form a tree, each the child of the one before it in a prompt; a leaf has no resident child.  SGLang's radix cache
under ``--radix-eviction-policy lfu``.  The request that brings a block counts.  A parent is used whenever its child is,
so counts never rise along a path.

Differs from the paper: engine behaviour, no paper.  Follows SGLang v0.5.15 of August 2026 (its documentation's page on
radix cache eviction policies).
Differs from SGLang: a leaf is a block, there a run of pages that goes whole; and where a prompt branches off in the
middle of a run, the part before starts to count anew there.  Pinned blocks stay.
"""

from __future__ import annotations

from typing import NamedTuple

from hitcurve._jit import entry, helper
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    leaves: Leaves  # by uses, then by last access


def new_state(n_blocks, capacity, params, seed, context):
    return State(new_leaves(n_blocks, capacity, context))


@helper
def on_hit(state, frame, block, position, now):
    rank(state.leaves, block, state.leaves.heap.keys[block].key + 1, now)


@helper
def on_insert(state, frame, block, position, now):
    grow(state.leaves, block, 1, now)


@helper
def evict(state, frame, now):
    return prune(state.leaves, frame)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    check_leaves(state.leaves, frame)


POLICY = Policy(
    "leaf_lfu", family="leaf", paper="", year=None, new_state=new_state, replay=replay, check=check,
    needs=frozenset({"tree"}), without={"tree": "leaf_lfu: these ids form no tree, so every block is a leaf"},
)  # fmt: skip
