"""Leaf Belady: evict the leaf whose next use lies farthest in the future, the best that can be done by leaves alone.

A parent is used again no later than its children, so the block used farthest in the future is a leaf, or may be one:
``belady`` that takes the deeper of two blocks never used again is this policy.  So nothing that only lets leaves go
hits more, and nothing at all has more leading-prefix hits (``docs/bounds.md``).

Differs from the paper: Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems Journal
5(2), 1966, chooses among all pages.  Of leaves never used again the least recent goes first.  Pinned blocks stay, and
would anyway: their next use is the arriving request.
"""

from __future__ import annotations

from typing import NamedTuple

from hitcurve._jit import entry, helper
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    leaves: Leaves  # by next use, the latest first, then by last access


def new_state(n_blocks, capacity, params, seed, context):
    return State(new_leaves(n_blocks, capacity, context))


@helper
def on_hit(state, frame, block, position, now):
    rank(state.leaves, block, -frame.next_use[block], now)


@helper
def on_insert(state, frame, block, position, now):
    grow(state.leaves, block, -frame.next_use[block], now)


@helper
def evict(state, frame, now):
    return prune(state.leaves, frame)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


def check(state, frame):
    check_leaves(state.leaves, frame)


POLICY = Policy(
    "leaf_belady",
    family="leaf",
    paper="Belady, A study of replacement algorithms for a virtual-storage computer, IBM Systems Journal 5(2), 1966",
    year=1966,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"tree", "next_use"}),
    without={"tree": "leaf_belady: these ids form no tree, so every block is a leaf"},
)
