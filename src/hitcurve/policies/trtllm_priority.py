"""TensorRT-LLM's prioritised LRU: the leaf of the lowest retention priority goes, of equals the least recent.

A request gives ranges of its tokens a priority from 0 to 100, and may say how long it lasts; after that, a block that
was not used again falls back to 35, the default, as if it had been used just then.  Blocks form a tree, and only leaves
go, whatever the priority of a block before them.  A trace tells of no priorities.  Here they follow the depth, as for a
system prompt that is to stay: the first ``front`` blocks of every prompt have ``front_priority``, the others
``rest_priority``, and what differs from the default lasts ``seconds`` from its last use.

Differs from the paper: engine behaviour, no paper.  Follows TensorRT-LLM 1.x (its documentation's page on the KV cache
system: prioritised LRU, leaves only, retention policy; the scale and the default as given there).
Differs from TensorRT-LLM: one memory, no second one to move to; prompts alone, no decoded blocks; requests run one
after the other.  Its documentation counts a duration from when a block first became reusable, its source from each use,
as here.  Pinned blocks stay.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import REQUEST
from hitcurve.kernels.leaves import Leaves, check_leaves, grow, new_leaves, prune, rank
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import Queues, back, is_sentinel, listed, new_queues, push_front, remove
from hitcurve.policies.policy import Policy, in_ns

DEFAULT = 35


class Params(NamedTuple):
    front: int = 16  # blocks at the front of a prompt that have the front's priority
    front_priority: int = 100  # from 0, which goes first, to 100
    rest_priority: int = 35  # of the blocks behind the front
    seconds: float = 0.0  # how long a priority other than 35 lasts after the last use; 0: for ever


class State(NamedTuple):
    leaves: Leaves  # by priority, then by turn
    lapsing: Queues  # blocks whose priority is going to lapse, by last use
    used_ns: np.ndarray  # int64 (n_blocks,): arrival of the last request that held the block
    turn: np.ndarray  # int64 [0]: uses and lapses so far
    front: int
    front_priority: int
    rest_priority: int
    lasts_ns: int


def new_state(n_blocks, capacity, params, seed, context):
    for name in ("front_priority", "rest_priority"):
        if not 0 <= getattr(params, name) <= 100:
            raise BadParameter(f"trtllm_priority: wanted 0 <= {name} <= 100, found {getattr(params, name)}")
    if params.front < 0:
        raise BadParameter(f"trtllm_priority: wanted front >= 0, found {params.front}")
    return State(
        leaves=new_leaves(n_blocks, capacity, context),
        lapsing=new_queues(n_blocks),
        used_ns=np.zeros(n_blocks, np.int64),
        turn=np.zeros(1, np.int64),
        front=params.front,
        front_priority=params.front_priority,
        rest_priority=params.rest_priority,
        lasts_ns=in_ns("trtllm_priority", "seconds", params.seconds),
    )


@helper
def next_turn(state):
    state.turn[0] += 1
    return state.turn[0]


@helper
def lapses(state, priority):
    return priority != DEFAULT and state.lasts_ns > 0


@helper
def priority_at(state, position):
    return state.front_priority if position < state.front else state.rest_priority


@helper
def use(state, frame, block, priority):
    if lapses(state, priority):
        push_front(state.lapsing, 0, block)
        state.used_ns[block] = frame.arrival_ns[frame.numbers[REQUEST]]


@helper
def on_request(state, frame, now):
    """Priorities that have lasted long enough fall back."""
    block = back(state.lapsing, 0)
    arrival = frame.arrival_ns[frame.numbers[REQUEST]]
    while not is_sentinel(state.lapsing, block) and arrival - state.used_ns[block] >= state.lasts_ns:
        remove(state.lapsing, 0, block)
        rank(state.leaves, block, DEFAULT, next_turn(state))
        block = back(state.lapsing, 0)


@helper
def on_hit(state, frame, block, position, now):
    if lapses(state, state.leaves.heap.keys[block].key):
        remove(state.lapsing, 0, block)
    priority = priority_at(state, position)
    use(state, frame, block, priority)
    rank(state.leaves, block, priority, next_turn(state))


@helper
def on_insert(state, frame, block, position, now):
    priority = priority_at(state, position)
    use(state, frame, block, priority)
    grow(state.leaves, block, priority, next_turn(state))


@helper
def evict(state, frame, now):
    victim = prune(state.leaves, frame)
    if lapses(state, state.leaves.heap.keys[victim].key):
        remove(state.lapsing, 0, victim)
    return victim


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict, on_request)


def check(state, frame):
    check_leaves(state.leaves, frame)
    resident = np.flatnonzero(frame.resident)
    wanted = resident[(state.leaves.heap.keys[resident].key != DEFAULT) & (state.lasts_ns > 0)]
    blocks = listed(state.lapsing, 0)
    assert sorted(blocks) == wanted.tolist() and (np.diff(state.used_ns[blocks]) <= 0).all()


POLICY = Policy(
    "trtllm_priority",
    family="engine",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"tree"}),
    without={
        "time": "trtllm_priority: without times no priority lapses",
        "tree": "trtllm_priority: these ids form no tree, so every block is a leaf",
    },
)
