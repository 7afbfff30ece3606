"""Belady over sessions: evict the conversation whose next request lies farthest in the future, with all its blocks.

PrefixSim's policy, of the ``session_lru`` kind: claims, overshoot and releases are described there.  The next request
is known from the trace; one that does not fit the cache or holds no blocks is none.  Sessions without a next request go
first, of several the one served longest ago.

It is the best that is done here by session, and no bound: it looks neither at the size of a session nor at what others
share with it, and its clock counts requests where ``belady`` counts block accesses.

Differs from the paper: folklore, no paper.  Pins as for ``session_lru``.  PrefixSim leaves the order of sessions
without a next request to its heap.
"""

from __future__ import annotations

from typing import NamedTuple

from hitcurve._jit import entry, helper
from hitcurve.kernels.claims import Claims, claimed, evict_by_session, freed, new_claims, on_block, serve_session
from hitcurve.kernels.frame import REQUEST
from hitcurve.kernels.heap import Heap, first, listed, new_heap, push, remove
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.policies.policy import Policy


class State(NamedTuple):
    claims: Claims
    heap: Heap  # of sessions: by next request, latest first, then by latest request


def new_state(n_blocks, capacity, params, seed, context):
    claims = new_claims(n_blocks, context.session)
    n_sessions = len(claims.request)
    return State(claims, new_heap(n_sessions, n_sessions))


@helper
def enter(state, frame, session):
    r = frame.numbers[REQUEST]
    push(state.heap, session, -frame.context.session_next[r], r)


@helper
def turn(state, frame, session):
    remove(state.heap, session)
    enter(state, frame, session)


@helper
def choose(state, frame):
    session = first(state.heap)
    remove(state.heap, session)
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
    nodes = listed(state.heap)
    assert sorted(session for _, _, session in nodes) == claimed(state.claims, frame)
    for key, r, session in nodes:
        assert (r, -key) == (state.claims.request[session], frame.context.session_next[r])


POLICY = Policy(
    "session_belady",
    family="session",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"session"}),
    without={"session": "session_belady: the trace names no sessions, each request is one, and the oldest goes first"},
)
