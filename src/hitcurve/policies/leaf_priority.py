"""Leaf priority: evict the leaf of the lowest priority; of equals, the least recent.

Blocks form a tree, each the child of the one before it in a prompt; a leaf has no resident child.  SGLang's radix cache
under ``--radix-eviction-policy priority``: a request has a priority, and a block the highest of the requests that have
used it since it became resident.  There the priority comes with the request (``priority``, 0 where it is not given).  A
trace has none, so here it is what a server can know: how many requests of its session came before, ``most`` at most.
With the default of 1, prompts of conversations that went on outlive those of conversations that have just begun.

Differs from the paper: engine behaviour, no paper.  Follows SGLang v0.5.15 of August 2026 (its documentation's page on
radix cache eviction policies).
Differs from SGLang: where priorities come from; and a leaf is a block, there a run of pages that goes whole.  Pinned
blocks stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import REQUEST
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class Params(NamedTuple):
    most: int = 1  # the highest priority


class State(NamedTuple):
    leaves: Leaves  # by priority, then by last access
    priority: np.ndarray  # int64 (requests,)


def new_state(n_blocks, capacity, params, seed, context):
    if params.most < 0:
        raise BadParameter(f"leaf_priority: wanted most >= 0, found {params.most}")
    order = np.argsort(context.session, kind="stable")
    session = context.session[order]
    before = np.empty(len(order), np.int64)
    before[order] = np.arange(len(order)) - np.searchsorted(session, session)
    return State(new_leaves(n_blocks, capacity, context), np.minimum(before, params.most))


@helper
def on_hit(state, frame, block, position, now):
    priority = state.priority[frame.numbers[REQUEST]]
    rank(state.leaves, block, max(state.leaves.heap.keys[block].key, priority), now)


@helper
def on_insert(state, frame, block, position, now):
    grow(state.leaves, block, state.priority[frame.numbers[REQUEST]], now)


@helper
def evict(state, frame, now):
    return prune(state.leaves, frame)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    check_leaves(state.leaves, frame)


POLICY = Policy(
    "leaf_priority",
    family="leaf",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"tree", "session"}),
    without={
        "session": "leaf_priority: without sessions every request has priority 0, so this is leaf_lru",
        "tree": "leaf_priority: these ids form no tree, so every block is a leaf",
    },
)
