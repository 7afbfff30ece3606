"""Exact LRU of a hybrid model object by object: a Fenwick tree over positions in one order of blocks and states.

The oracle of ``hybrid_run_level``, and what remains where raw ids form no tree.  Block b is object 2 b, its state is
object 2 b + 1.

    evaluate    against the order as it was, from the root, up to the first block never seen: where the state of a
                position is there, the room it takes to go on from it is that of the oldest object among the state and
                the blocks so far
    commit      last block first; a state is touched just before its block, at every ``step``-th position and the last

Positions only grow, so from time to time the live ones are numbered anew (never more than twice the live ones, and
``SLACK``).

Cost: O(blocks x log unique objects) a request.  State: at most 72 bytes a unique block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.envelope import STATE, put_points
from hitcurve.kernels.fenwick import add_at, append_place, sum_up_to

SLACK = 4096  # positions that may lie dead before anything is numbered anew


class Objects(NamedTuple):
    """The recency order: position 1 is the oldest."""

    n: np.ndarray  # int64 (4,): requests so far; live positions; positions; blocks + STATE * states that are live
    last: np.ndarray  # int32 (2 * blocks,): position of an object, 0 before its first touch
    touched_ns: np.ndarray  # int64 (2 * blocks,): time of its last touch
    live: np.ndarray  # int64 (room + 1,): Fenwick tree, 1 at live blocks, STATE at live states
    at: np.ndarray  # int32 (room + 1,): object at a position


def positions_needed(blocks: int, longest: int) -> int:
    """Room for positions that suffices for that many unique blocks and requests of at most ``longest`` blocks."""
    return 2 * (2 * blocks) + SLACK + 2 * longest


def new_objects(blocks: int, longest: int) -> Objects:
    """Empty, with room for that many unique blocks and requests of at most ``longest`` blocks."""
    room = positions_needed(blocks, longest)
    return Objects(
        n=np.zeros(4, np.int64),
        last=np.zeros(2 * blocks, np.int32),
        touched_ns=np.zeros(2 * blocks, np.int64),
        live=np.zeros(room + 1, np.int64),
        at=np.zeros(room + 1, np.int32),
    )


@helper
def touch(objects, thing, now):
    weight = STATE if thing & 1 else 1
    n = objects.n[2]
    if objects.last[thing]:
        add_at(objects.live, n, np.int64(objects.last[thing]), -weight)
    else:
        objects.n[1] += 1
        objects.n[3] += weight
    n += 1
    append_place(objects.live, n, weight)
    objects.last[thing] = n
    objects.at[n] = thing
    objects.touched_ns[thing] = now
    objects.n[2] = n


@helper
def number_anew(objects):
    kept = 0
    for position in range(1, objects.n[2] + 1):
        thing = np.int64(objects.at[position])
        if objects.last[thing] == position:
            kept += 1
            objects.at[kept] = thing
            objects.last[thing] = kept
            append_place(objects.live, kept, STATE if thing & 1 else 1)
    objects.n[2] = kept


@entry
def replay_hybrid_requests(requests, objects, points, step, begin, end):
    """Replay requests up to ``end`` (exclusive); return how many are done in all.

    Points are written as by ``hybrid_run_level.follow_hybrid_requests``.  Stops early, before a request, when the room
    for progressions is less than its blocks.
    """
    r = objects.n[0]
    n = points.offsets[r - begin]
    while r < end:
        begins, stop = requests.span_offsets[r], requests.span_offsets[r + 1]
        blocks = 0
        for s in range(begins, stop):
            blocks += requests.span_length[s]
        if n + blocks > len(points.blocks):
            break
        now = requests.arrival_ns[r]
        first = n
        oldest = objects.n[2] + 1
        depth = 0
        s = begins
        while s < stop:
            for block in range(requests.span_first[s], requests.span_first[s] + requests.span_length[s]):
                position = np.int64(objects.last[2 * block])
                if position == 0:
                    s = stop  # never seen before: the walk ends
                    break
                oldest = min(oldest, position)
                depth += 1
                position = np.int64(objects.last[2 * block + 1])
                if position:
                    position = min(oldest, position)
                    room = objects.n[3] - sum_up_to(objects.live, position - 1)
                    age = now - objects.touched_ns[objects.at[position]]
                    n = put_points(points, first, n, step, room, depth, 1, age)
            s += 1
        depth = blocks
        for s in range(stop - 1, begins - 1, -1):
            for block in range(requests.span_first[s] + requests.span_length[s] - 1, requests.span_first[s] - 1, -1):
                if depth % step == 0 or depth == blocks:
                    touch(objects, 2 * block + 1, now)
                touch(objects, 2 * block, now)
                depth -= 1
        if objects.n[2] > 2 * objects.n[1] + SLACK:
            number_anew(objects)
        r += 1
        points.offsets[r - begin] = n
        objects.n[0] = r
    return r
