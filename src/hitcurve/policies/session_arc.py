"""ARC over sessions: one queue for those with a single turn, one for the rest, and the memory of what left each.

PrefixSim's policy, of the ``session_lru`` kind: claims, overshoot and releases are described there.  A new session
enters T1, every further turn moves it to the front of T2.  T1 gives the session to evict while it holds more than its
target, T2 else.  A session that returns remembered from T1 raises the target by max(1, B2 / B1), one remembered from T2
lowers it by max(1, B1 / B2); both enter T2.  As many evicted sessions are remembered as sessions remain, and one more;
those of T1 are forgotten first.

Differs from the paper (Megiddo, Modha: "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003): a cache of
blocks holds no fixed number of sessions, so the sessions that are resident, and one, stand for the capacity; the target
is bounded by it when it is raised, and may exceed it later.  Pins as for ``session_lru``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.claims import Claims, claimed, evict_by_session, freed, new_claims, on_block, serve_session
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import Queues, back, listed, new_queues, push_front, remove
from hitcurve.policies.policy import Policy

T1, T2, B1, B2, NOWHERE = range(5)


class State(NamedTuple):
    claims: Claims
    queues: Queues  # T1, T2, B1, B2, of sessions
    place: np.ndarray  # uint8 (n_sessions,): the queue a session stands in, or NOWHERE
    target: np.ndarray  # float64 [0]: sessions that T1 should hold


def new_state(n_blocks, capacity, params, seed, context):
    claims = new_claims(n_blocks, context.session)
    n_sessions = len(claims.request)
    return State(claims, new_queues(n_sessions, 4), np.full(n_sessions, NOWHERE, np.uint8), np.zeros(1))


@helper
def put(state, session, q):
    """Move a session to the front of queue q."""
    if state.place[session] != NOWHERE:
        remove(state.queues, state.place[session], session)
    push_front(state.queues, q, session)
    state.place[session] = q


@helper
def enter(state, frame, session):
    size, target, place = state.queues.size, state.target, state.place[session]
    if place == B1:
        target[0] = min(size[T1] + size[T2] + 1.0, target[0] + max(1.0, size[B2] / size[B1]))
    elif place == B2:
        target[0] = max(0.0, target[0] - max(1.0, size[B1] / size[B2]))
    put(state, session, T1 if place == NOWHERE else T2)


@helper
def turn(state, frame, session):
    put(state, session, T2)


@helper
def choose(state, frame):
    size = state.queues.size
    q = T1 if size[T1] > 0 and (size[T2] == 0 or size[T1] > state.target[0]) else T2
    session = back(state.queues, q)
    put(state, session, B1 + q)
    while size[B1] + size[B2] > size[T1] + size[T2] + 1:
        ghosts = B1 if size[B1] > 0 else B2
        forgotten = back(state.queues, ghosts)
        remove(state.queues, ghosts, forgotten)
        state.place[forgotten] = NOWHERE
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
    queues = [listed(state.queues, q) for q in (T1, T2, B1, B2)]
    assert sorted(queues[T1] + queues[T2]) == claimed(state.claims, frame)
    assert all(sorted(sessions) == np.flatnonzero(state.place == q).tolist() for q, sessions in enumerate(queues))
    assert state.target[0] >= 0


POLICY = Policy(
    "session_arc",
    family="session",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"session"}),
    without={"session": "session_arc: the trace names no sessions, each request is one, and the oldest goes first"},
)
