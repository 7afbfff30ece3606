"""Claims of sessions on blocks: a block stays resident while a session claims it.

A session claims the blocks of its latest request, so all that is kept of its path is the number of that request.

    a turn         claim every block of the new path, then give up the old path: what both hold is never without a claim
    an eviction    give up the session's path: what other sessions claim stays

Giving up a path goes block by block.  ``pending`` says how far it has come; what loses its last claim is named to the
request loop one block at a time, as a victim or as a release.  Cost O(1) a position claimed and O(1) a position given
up, so O(1) amortised over the positions of the trace.  4 bytes a block, 8 bytes a session.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import PIN, REQUEST

SPAN, END, DONE = range(3)  # places in ``pending``


class Claims(NamedTuple):
    claimants: np.ndarray  # int32 (n_blocks,): claims on each block
    request: np.ndarray  # int64 (n_sessions,): the request whose path the session claims, or -1
    pending: np.ndarray  # int64: spans SPAN .. END - 1 are being given up, of the first of them DONE blocks are


def new_claims(n_blocks: int, session: np.ndarray) -> Claims:
    """No claims yet.  ``session`` int64 (requests,): sessions by number."""
    n_sessions = int(session.max(initial=-1)) + 1
    return Claims(np.zeros(n_blocks, np.int32), np.full(n_sessions, -1, np.int64), np.zeros(3, np.int64))


@part
def claim_spans(claimants, span_first, span_length, begin, end):
    for s in range(begin, end):
        first = span_first[s]
        for block in range(first, first + span_length[s]):
            claimants[block] += 1


@part
def next_unclaimed(claimants, pending, span_first, span_length, requested, pins):
    """Go on giving up; the next block without a claim, or -1 at the end.  Pinned ones stay, they are claimed next."""
    s, done = pending[SPAN], pending[DONE]
    while s < pending[END]:
        first = np.int64(span_first[s])
        while done < span_length[s]:
            block = first + done
            done += 1
            claimants[block] -= 1
            if claimants[block] == 0 and not (pins and requested[block]):
                pending[SPAN], pending[DONE] = s, done
                return block
        s += 1
        done = 0
    pending[SPAN], pending[DONE] = s, 0
    return -1


@helper
def give_up(claims, frame, r):
    """Begin to give up the claims on the path of request ``r``; nothing else is pending."""
    claims.pending[SPAN] = frame.span_offsets[r]
    claims.pending[END] = frame.span_offsets[r + 1]
    claims.pending[DONE] = 0


@helper
def freed(state, frame, now):
    """The ``release`` hook of a policy whose state has ``claims``: the next block without a claim, or -1."""
    claims = state.claims
    return next_unclaimed(
        claims.claimants, claims.pending, frame.span_first, frame.span_length, frame.requested, frame.numbers[PIN]
    )


@helper
def serve_session(state, frame, enter, turn):
    """Move the session of the arriving request on to its new path, and begin to give up its old one.

    ``enter(state, frame, session)`` is called for a session without claims, ``turn(...)`` for one that has some.  A
    request without blocks leaves its session as it is.
    """
    r = frame.numbers[REQUEST]
    if frame.blocks[r] > 0:
        claims, session = state.claims, frame.context.session[r]
        old = claims.request[session]
        claims.request[session] = r
        claim_spans(
            claims.claimants, frame.span_first, frame.span_length, frame.span_offsets[r], frame.span_offsets[r + 1]
        )
        if old < 0:
            enter(state, frame, session)
        else:
            give_up(claims, frame, old)
            turn(state, frame, session)


@helper
def evict_by_session(state, frame, now, choose):
    """A block that has lost its last claim; where there is none, sessions are evicted until there is.

    ``choose(state, frame)`` forgets and returns a session with claims.
    """
    block = np.int64(-1)
    while block < 0:
        block = freed(state, frame, now)
        if block < 0:
            session = choose(state, frame)
            give_up(state.claims, frame, state.claims.request[session])
            state.claims.request[session] = -1
    return block


@helper
def on_block(state, frame, block, position, now):
    """The ``on_hit`` and ``on_insert`` of policies that tell sessions apart, not blocks."""


def claimed(claims: Claims, frame: Any) -> list[int]:
    """The sessions with claims; every claim counted again, and that who is claimed is resident; for tests."""
    sessions = [int(session) for session in np.flatnonzero(claims.request >= 0)]
    count = np.zeros_like(claims.claimants)
    for r in claims.request[sessions].tolist():
        for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
            count[frame.span_first[s] : frame.span_first[s] + frame.span_length[s]] += 1
    assert np.array_equal(count, claims.claimants), "claims on a block"
    assert np.array_equal(count > 0, frame.resident != 0), "who is claimed is resident, and nobody else"
    assert claims.pending[SPAN] == claims.pending[END], "claims that were to be given up"
    return sessions
