"""Leaf FIFO: evict the leaf that became resident longest ago.

Blocks form a tree, each the child of the one before it in a prompt; a leaf has no resident child.  SGLang's radix cache
with the strategy ``fifo``.

Differs from the paper: engine behaviour, no paper.  Follows SGLang v0.5.15 of August 2026, whose radix cache knows this
strategy; its command line does not offer it.
Differs from SGLang: a leaf is a block, there a run of pages that goes whole; and where a prompt branches off in the
middle of a run, the part before is a new run there, as old as the split.  Pinned blocks stay.
"""

from __future__ import annotations

from typing import NamedTuple

from hitcurve._jit import entry, helper
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    leaves: Leaves  # by insertion


def new_state(n_blocks, capacity, params, seed, context):
    return State(new_leaves(n_blocks, capacity, context))


@helper
def on_hit(state, frame, block, position, now):
    rank(state.leaves, block, state.leaves.heap.keys[block].key, 0)  # the same: pinned leaves were set aside


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
    "leaf_fifo", family="leaf", paper="", year=None, new_state=new_state, replay=replay, check=check,
    needs=frozenset({"tree"}), without={"tree": "leaf_fifo: these ids form no tree, so every block is a leaf"},
)  # fmt: skip
