"""Claims equal a Counter of who claims what, and name every block once, when its last claim ends."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry, helper
from hitcurve.kernels.claims import Claims, claimed, evict_by_session, freed, give_up, new_claims, serve_session
from hitcurve.kernels.frame import PIN, REQUEST
from hitcurve.simulation import new_frame
from hitcurve.trace import Labels, Trace

SESSIONS = 3


class State(NamedTuple):
    claims: Claims
    told: np.ndarray  # int64: [0] session that entered, [1] session that had a turn, [2] session to choose


@helper
def enter(state, frame, session):
    state.told[0] = session


@helper
def turn(state, frame, session):
    state.told[1] = session


@helper
def choose(state, frame):
    return state.told[2]


@entry
def serve(state, frame):
    serve_session(state, frame, enter, turn)


@entry
def release(state, frame):
    return freed(state, frame, 0)


@entry
def evict(state, frame):
    return evict_by_session(state, frame, 0, choose)


@entry
def forsake(state, frame, session):
    give_up(state.claims, frame, state.claims.request[session])
    state.claims.request[session] = -1


def released(state, frame):
    blocks = []
    while (block := release(state, frame)) >= 0:
        blocks.append(block)
        frame.resident[block] = 0
    return blocks


turns = st.tuples(st.lists(st.integers(0, 6), max_size=5), st.integers(0, SESSIONS - 1))


@settings(max_examples=100, deadline=None)
@given(
    served=st.lists(st.tuples(turns, st.sets(st.integers(0, SESSIONS - 1)), st.booleans()), min_size=1, max_size=20),
    identity=st.sampled_from(["prefix", "raw"]),
)
def test_equals_a_counter(served, identity):
    """After every turn some sessions are evicted; blocks of the turn may be pinned meanwhile, and are claimed again."""
    requests = [blocks for (blocks, _), _, _ in served]
    sessions = [session for (_, session), _, _ in served]
    trace = Trace.of_requests(requests, identity=identity, session=Labels.of([str(s) for s in sessions]))
    frame = new_frame(trace, 100, np.ones(5), needs=frozenset({"session"}))
    numbers = frame.context.session
    state = State(new_claims(trace.n_blocks, numbers), np.zeros(3, np.int64))
    paths: dict[int, list[int]] = {}
    for r, (_, evicted, pin) in enumerate(served):
        blocks, session = trace.blocks(r).tolist(), int(numbers[r])
        before = Counter(block for path in paths.values() for block in path)
        frame.numbers[REQUEST] = r
        state.told[:] = -1
        serve(state, frame)
        frame.resident[blocks] = 1
        assert state.told.tolist() == [
            session if blocks and session not in paths else -1,
            session if blocks and session in paths else -1,
            -1,
        ]
        if blocks:
            paths[session] = blocks
        after = Counter(block for path in paths.values() for block in path)
        assert sorted(released(state, frame)) == sorted(set(before) - set(after))
        assert claimed(state.claims, frame) == sorted(paths)

        frame.numbers[PIN] = pin
        frame.requested[blocks] = 1
        for victim in sorted(evicted & set(paths)):
            kept = {block for other in paths if other != victim for block in paths[other]}
            leaving = set(paths.pop(victim)) - kept - (set(blocks) if pin else set())
            forsake(state, frame, victim)
            assert sorted(released(state, frame)) == sorted(leaving)
        frame.requested[blocks] = 0
        if pin and session in evicted and blocks:  # claim what the pins have kept, and so come to rest
            serve(state, frame)
            assert released(state, frame) == []
            paths[session] = blocks
        assert claimed(state.claims, frame) == sorted(paths)


def test_sessions_go_until_a_block_is_free():
    trace = Trace.of_requests([[1, 2], [1, 2], [1, 2, 3]], session=Labels.of(["a", "b", "c"]))
    frame = new_frame(trace, 100, np.ones(5), needs=frozenset({"session"}))
    state = State(new_claims(trace.n_blocks, frame.context.session), np.zeros(3, np.int64))
    for r in range(3):
        frame.numbers[REQUEST] = r
        serve(state, frame)
    frame.resident[:] = 1
    state.told[2] = 2
    assert evict(state, frame) == 2  # block 3 of c; 1 and 2 are claimed by a and b
    frame.resident[2] = 0
    assert release(state, frame) == -1
    state.told[2] = 1
    forsake(state, frame, 0)
    assert release(state, frame) == -1  # b has all that a had
    assert [evict(state, frame), evict(state, frame)] == [0, 1]
