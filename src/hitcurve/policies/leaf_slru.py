"""Leaf SLRU: evict the least recent leaf that too few requests have used; only then the others, least recent first.

Blocks form a tree, each the child of the one before it in a prompt; a leaf has no resident child.  SGLang's radix cache
under ``--radix-eviction-policy slru``: a block that ``protected_uses`` requests have used since it became resident, the
one that brought it counted, is protected, and goes after all leaves that are not.

Differs from the paper: engine behaviour, no paper.  Follows SGLang v0.5.15 of August 2026: its source counts the
request that brings a block; its documentation, the later ones alone, which would be 3 here.
Differs from SGLang: a leaf is a block, there a run of pages that goes whole; and where a prompt branches off in the
middle of a run, the part before starts to count anew there.  Pinned blocks stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class Params(NamedTuple):
    protected_uses: int = 2  # requests that must have used a block, the one that brought it counted


class State(NamedTuple):
    leaves: Leaves  # by protection, then by last access
    uses: np.ndarray  # int32 (n_blocks,): requests since the block became resident
    protected_uses: int


def new_state(n_blocks, capacity, params, seed, context):
    if params.protected_uses < 1:
        raise BadParameter(f"leaf_slru: wanted protected_uses >= 1, found {params.protected_uses}")
    return State(new_leaves(n_blocks, capacity, context), np.zeros(n_blocks, np.int32), params.protected_uses)


@helper
def on_hit(state, frame, block, position, now):
    state.uses[block] += 1
    rank(state.leaves, block, np.int64(state.uses[block] >= state.protected_uses), now)


@helper
def on_insert(state, frame, block, position, now):
    state.uses[block] = 1
    grow(state.leaves, block, np.int64(state.protected_uses <= 1), now)


@helper
def evict(state, frame, now):
    return prune(state.leaves, frame)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    check_leaves(state.leaves, frame)


POLICY = Policy(
    "leaf_slru", family="leaf", paper="", year=None, new_state=new_state, replay=replay, check=check, params=Params,
    needs=frozenset({"tree"}), without={"tree": "leaf_slru: these ids form no tree, so every block is a leaf"},
)  # fmt: skip
