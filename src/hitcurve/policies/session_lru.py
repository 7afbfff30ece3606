"""LRU over sessions: evict the conversation that was served longest ago, with all its blocks.

PrefixSim's policy.  A session claims the blocks of its latest request; a block stays while a session claims it.  An
eviction takes the claims of a whole session, and frees the blocks that no other session claims: as many sessions go as
it takes to make room, and what the last one frees beyond that is counted as overshoot.  A request claims its blocks
before its session gives up those of the request before; what then has no claim is freed at once, outside the
allocation, and counted as released.

Differs from the paper: folklore, no paper.  The arriving request's session may be evicted like any other, and is then
new again.  Pinned blocks stay whoever claims them, as the arriving request claims them next.  PrefixSim honours no pins
and does not count what it releases.
"""

from __future__ import annotations

from typing import NamedTuple

from hitcurve._jit import entry, helper
from hitcurve.kernels.claims import Claims, claimed, evict_by_session, freed, new_claims, on_block, serve_session
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import Queues, back, listed, move_to_front, new_queues, push_front, remove
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    claims: Claims
    queue: Queues  # of sessions


def new_state(n_blocks, capacity, params, seed, context):
    claims = new_claims(n_blocks, context.session)
    return State(claims, new_queues(len(claims.request)))


@helper
def enter(state, frame, session):
    push_front(state.queue, 0, session)


@helper
def turn(state, frame, session):
    move_to_front(state.queue, 0, session)


@helper
def choose(state, frame):
    session = back(state.queue, 0)
    remove(state.queue, 0, session)
    return session


@helper
def on_path(state, frame, now):
    serve_session(state, frame, enter, turn)


@helper
def evict(state, frame, now):
    return evict_by_session(state, frame, now, choose)


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_block, on_block, evict, on_path=on_path, release=freed)


def check(state, frame):
    assert sorted(listed(state.queue, 0)) == claimed(state.claims, frame)


POLICY = Policy(
    "session_lru",
    family="session",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"session"}),
    without={"session": "session_lru: the trace names no sessions, each request is one, and the oldest goes first"},
)
