"""The envelope of a request's points in a hybrid model: where it can go on, and the cache that each place needs.

A *point* says: a cache that holds so many Full blocks and states, the newest ones, lets a request go on after ``hits``
blocks.  A point is of use if no deeper one needs as little, so along the envelope both room and hits rise.

Rooms are compared by how many objects they hold: each is the newest part of one and the same order.  Counts of both
kinds travel in one number, blocks + ``STATE`` * states, as sums and differences of such numbers are right in both.

Points at equal distances are kept as one *progression*: ``length`` points, each a step of blocks, a state and a step of
hits beyond the one before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper

STATE = 1 << 32  # both counts stay below 2**31


class Points(NamedTuple):
    """Facts of a hybrid model: request r has the progressions ``offsets[r]:offsets[r+1]``."""

    offsets: np.ndarray  # int64 (requests + 1,)
    blocks: np.ndarray  # int64: Full blocks that a cache must have room for, at the first point
    states: np.ndarray  # int64: states that it must have room for too
    hits: np.ndarray  # int64: leading blocks that hit then
    length: np.ndarray  # int64: points of the progression
    age_ns: np.ndarray  # int64: time since the oldest object needed was last touched, one for all of them


def new_points(requests: int, room: int) -> Points:
    """Empty, for so many requests and progressions."""
    return Points(np.zeros(requests + 1, np.int64), *(np.empty(room, np.int64) for _ in range(5)))


@helper
def put_points(points, first, n, step, room, hits, count, age):
    """Drop the points behind ``first`` that need as much ``room`` as a new progression, and add it; return the new n.

    ``room``: blocks + ``STATE`` * states at the first of its ``count`` points; ``n``: progressions so far.
    """
    blocks, states = room & (STATE - 1), room >> 32
    while n > first:
        further = points.length[n - 1] * step
        nearest = points.blocks[n - 1] + further + points.states[n - 1] + points.length[n - 1]
        if nearest - step - 1 < blocks + states:
            if (
                points.blocks[n - 1] + further == blocks
                and points.states[n - 1] + points.length[n - 1] == states
                and points.hits[n - 1] + further == hits
                and points.age_ns[n - 1] == age
            ):
                points.length[n - 1] += count
                return n
            break
        points.length[n - 1] -= 1
        if points.length[n - 1] == 0:
            n -= 1
    points.blocks[n] = blocks
    points.states[n] = states
    points.hits[n] = hits
    points.length[n] = count
    points.age_ns[n] = age
    return n + 1
