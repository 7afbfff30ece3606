"""S3-FIFO over sessions: a small FIFO filters those that end early, a main FIFO keeps the rest, ghosts are remembered.

PrefixSim's policy, of the ``session_lru`` kind: claims, overshoot and releases are described there.  A new session
enters the small queue, a remembered one the main queue, and its turns are counted, up to 3.  The small queue gives the
session to evict while it holds more than a tenth of all, or the main queue none: its oldest session moves to the main
queue if it had more than one turn, else it goes and is remembered.  The main queue's oldest goes round again while its
count lasts, one less each time.  As many are remembered as sessions remain, and one more.

Differs from the paper (Yang, Zhang, Qiu, Yue, Rashmi: "FIFO Queues Are All You Need for Cache Eviction", SOSP 2023): a
cache of blocks holds no fixed number of sessions, so queues are sized by the sessions that are resident.  Entering
counts as a turn, and a count survives the move to the main queue.  Pins as for ``session_lru``.
Differs from PrefixSim: the search needs no bound (there 2 n + 8 steps): each of its steps moves a session on for good
or uses up a turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.claims import Claims, claimed, evict_by_session, freed, new_claims, on_block, serve_session
from hitcurve.kernels.loop import nothing, replay_requests
from hitcurve.kernels.queues import Queues, back, listed, move_to_front, new_queues, push_front, remove
from hitcurve.policies.policy import Policy

SMALL, MAIN, GHOST = range(3)
MOST = 3  # turns that count


class State(NamedTuple):
    claims: Claims
    queues: Queues  # SMALL, MAIN, GHOST, of sessions
    turns: np.ndarray  # uint8 (n_sessions,): turns since the session entered, less the rounds they paid for
    ghost: np.ndarray  # uint8 (n_sessions,): 1 for a remembered session


def new_state(n_blocks, capacity, params, seed, context):
    claims = new_claims(n_blocks, context.session)
    n_sessions = len(claims.request)
    turns, ghost = np.zeros((2, n_sessions), np.uint8)
    return State(claims, new_queues(n_sessions, 3), turns, ghost)


@helper
def enter(state, frame, session):
    q = SMALL
    if state.ghost[session]:
        remove(state.queues, GHOST, session)
        state.ghost[session] = 0
        q = MAIN
    push_front(state.queues, q, session)
    state.turns[session] = 1


@helper
def turn(state, frame, session):
    if state.turns[session] < MOST:
        state.turns[session] += 1


@helper
def remember(state, session):
    size = state.queues.size
    push_front(state.queues, GHOST, session)
    state.ghost[session] = 1
    while size[GHOST] > size[SMALL] + size[MAIN] + 1:
        forgotten = back(state.queues, GHOST)
        remove(state.queues, GHOST, forgotten)
        state.ghost[forgotten] = 0


@helper
def choose(state, frame):
    size = state.queues.size
    chosen = np.int64(-1)
    while chosen < 0:
        if size[SMALL] > 0 and (size[MAIN] == 0 or 10 * size[SMALL] > size[SMALL] + size[MAIN]):
            session = back(state.queues, SMALL)
            remove(state.queues, SMALL, session)
            if state.turns[session] > 1:
                push_front(state.queues, MAIN, session)
            else:
                remember(state, session)
                chosen = session
        else:
            session = back(state.queues, MAIN)
            if state.turns[session] > 0:
                state.turns[session] -= 1
                move_to_front(state.queues, MAIN, session)
            else:
                remove(state.queues, MAIN, session)
                chosen = session
    return chosen


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
    small, main, ghosts = (listed(state.queues, q) for q in (SMALL, MAIN, GHOST))
    sessions = claimed(state.claims, frame)
    assert sorted(small + main) == sessions
    assert sorted(ghosts) == np.flatnonzero(state.ghost).tolist()
    assert state.turns[small].min(initial=1) >= 1 and state.turns[sessions].max(initial=0) <= MOST


POLICY = Policy(
    "session_s3fifo",
    family="session",
    paper="",
    year=None,
    new_state=new_state,
    replay=replay,
    check=check,
    needs=frozenset({"session"}),
    without={"session": "session_s3fifo: the trace names no sessions, each request is one, and the oldest goes first"},
)
