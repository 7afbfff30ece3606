"""Exact LRU block by block: a Fenwick tree over positions in the recency order, in the encoding of LiteHit.

The oracle of the run-level pass, and what remains where raw ids form no tree (one id under two parents, or twice in one
request).  For each block: its position in the order is where it was last touched; it needs a cache of 1 + live
positions above its own.

    evaluate    against the order as it was before the request, from the root, up to the first block never seen:
                threshold = max(required, threshold before + 1); the second part matters without a tree only, and
                then makes the facts a lower bound at finite capacities (never at infinity)
    commit      every block of the request, last block first, whatever hit

Positions only grow, so from time to time the live ones are numbered anew (never more than twice the live ones, and
``SLACK``).  An id that occurs twice in a request ends at the place of its first occurrence: it is touched last.

Cost: O(blocks x log unique blocks) a request.  State: O(unique blocks), 20 to 28 bytes each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.fenwick import add_at, append_place, sum_up_to

SLACK = 4096  # positions that may lie dead before anything is numbered anew


class Positions(NamedTuple):
    """The recency order: position 1 is the oldest."""

    n: np.ndarray  # int64 (3,): requests so far; live positions (unique blocks so far); positions
    last: np.ndarray  # int32 (blocks,): position of a block, 0 before its first touch
    touched_ns: np.ndarray  # int64 (blocks,): time of its last touch
    live: np.ndarray  # int32 (room + 1,): Fenwick tree, 1 at live positions
    block: np.ndarray  # int32 (room + 1,): block at a position


def positions_needed(blocks: int, longest: int) -> int:
    """Room for positions that suffices for that many unique blocks and requests of at most ``longest`` blocks."""
    return 2 * blocks + SLACK + longest


def new_positions(blocks: int, longest: int) -> Positions:
    """Empty, with room for that many unique blocks and requests of at most ``longest`` blocks."""
    room = positions_needed(blocks, longest)
    return Positions(
        n=np.zeros(3, np.int64),
        last=np.zeros(blocks, np.int32),
        touched_ns=np.zeros(blocks, np.int64),
        live=np.zeros(room + 1, np.int32),
        block=np.zeros(room + 1, np.int32),
    )


@helper
def touch(positions, block, now):
    n = positions.n[2]
    if positions.last[block]:
        add_at(positions.live, n, np.int64(positions.last[block]), -1)
    else:
        positions.n[1] += 1
    n += 1
    append_place(positions.live, n, 1)
    positions.last[block] = n
    positions.block[n] = block
    positions.touched_ns[block] = now
    positions.n[2] = n


@helper
def number_anew(positions):
    kept = 0
    for position in range(1, positions.n[2] + 1):
        block = positions.block[position]
        if positions.last[block] == position:
            kept += 1
            positions.block[kept] = block
            positions.last[block] = kept
            append_place(positions.live, kept, 1)
    positions.n[2] = kept


@entry
def replay_requests(requests, positions, segments, begin, end):
    """Replay requests up to ``end`` (exclusive); return how many are done in all.

    Segments are written as by ``run_level.follow_requests``, one for each stretch of thresholds that rise by one and
    have one age.  Stops early, before a request, when the room for segments is less than its blocks.
    """
    r = positions.n[0]
    n = segments.offsets[r - begin]
    while r < end:
        first, stop = requests.span_offsets[r], requests.span_offsets[r + 1]
        blocks = 0
        for s in range(first, stop):
            blocks += requests.span_length[s]
        if n + blocks > len(segments.start):
            break
        now = requests.arrival_ns[r]
        threshold, last_age = 0, -1
        known = True
        s = first
        while known and s < stop:
            for block in range(requests.span_first[s], requests.span_first[s] + requests.span_length[s]):
                position = np.int64(positions.last[block])
                if position == 0:
                    known = False
                    break
                required = positions.n[1] - sum_up_to(positions.live, position) + 1
                age = now - positions.touched_ns[block]
                if required <= threshold + 1 and age == last_age:
                    segments.length[n - 1] += 1
                    threshold += 1
                else:
                    threshold = max(required, threshold + 1)
                    segments.start[n] = threshold
                    segments.length[n] = 1
                    segments.age_ns[n] = age
                    last_age = age
                    n += 1
            s += 1
        for s in range(stop - 1, first - 1, -1):
            for block in range(requests.span_first[s] + requests.span_length[s] - 1, requests.span_first[s] - 1, -1):
                touch(positions, block, now)
        if positions.n[2] > 2 * positions.n[1] + SLACK:
            number_anew(positions)
        r += 1
        segments.offsets[r - begin] = n
        positions.n[0] = r
    return r
