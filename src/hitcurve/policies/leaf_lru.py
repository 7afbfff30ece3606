"""Leaf LRU: evict the leaf whose last access is longest ago.

Blocks form a tree, each the child of the one before it in a prompt; a leaf has no resident child.  SGLang's radix cache
under ``--radix-eviction-policy lru``, its default.  A block whose last child went is a leaf from then on.

Differs from the paper: engine behaviour, no paper.  Follows SGLang v0.5.15 of August 2026 (its documentation's page on
radix cache eviction policies).
Differs from SGLang: there a leaf is a run of pages that goes whole, even where fewer are needed; here it is shortened
from its end, block by block.  Pinned blocks stay, as there those of running requests do.

Leaves never share their last request, so the order in which a request's blocks are accessed does not matter.  With the
deepest accessed first this is ``lru``, victim for victim.
"""

from __future__ import annotations

from typing import NamedTuple

from hitcurve._jit import entry, helper
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    leaves: Leaves  # by last access


def new_state(n_blocks, capacity, params, seed, context):
    return State(new_leaves(n_blocks, capacity, context))


@helper
def on_hit(state, frame, block, position, now):
    rank(state.leaves, block, now, 0)


@helper
def on_insert(state, frame, block, position, now):
    grow(state.leaves, block, now, 0)


@helper
def evict(state, frame, now):
    return prune(state.leaves, frame)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    check_leaves(state.leaves, frame)


POLICY = Policy(
    "leaf_lru", family="leaf", paper="", year=None, new_state=new_state, replay=replay, check=check,
    needs=frozenset({"tree"}), without={"tree": "leaf_lru: these ids form no tree, so every block is a leaf"},
)  # fmt: skip
