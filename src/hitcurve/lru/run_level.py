"""Exact LRU on runs: one segment for each earlier request that a new one follows, whatever their lengths.

Requests are committed last block first.  Then the recency order is a row of *runs*, one for each past request, newest
request first: the blocks that it was the last to touch, which are always one stretch from some depth of its path to its
end, in path order.

    requests       r1 = a b c d     r2 = a b x     r3 = a b c y

    after r1       a b c d
    after r2       a b x . c d          r1 keeps c d
    after r3       a b c y . x . d      r2 keeps x, r1 keeps d

A new request walks down from its root.  The block at hand, if seen before, is the first block of its owner's run: so
one look-up by *first block* finds the owner, comparing spans tells how far both paths agree, and that stretch is one
segment ``(start, length, age)``: its first block needs a cache of ``start`` = 1 + blocks in newer runs, and each next
block needs one block more.  What the walk takes from a run it takes from the front; the new request, whole, becomes the
newest run.  ``docs/run-level-lru.md`` proves both claims.

The snapshot rule (judge all, then commit) needs no second pass: the owners met on a walk come newest first, so the
blocks taken so far all stood in runs newer than the one at hand, and are added back.

Cost: O(spans + segments x log requests) a request, less where it goes on from the end of an earlier one.  State:
O(requests), 60 to 92 bytes each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.fenwick import add_at, append_place, sum_up_to
from hitcurve.kernels.following import common, own, slot_of


class Requests(NamedTuple):
    """Requests in replay order; only those that own a run are read again."""

    arrival_ns: np.ndarray  # int64 (requests,)
    span_offsets: np.ndarray  # int64 (requests + 1,)
    span_first: np.ndarray  # int32 (spans,)
    span_length: np.ndarray  # int32 (spans,)


class Runs(NamedTuple):
    """The recency order; request r owns one run, perhaps empty, and newer requests have larger numbers.

    The table is open addressed and never deletes: a slot whose owner is -1 is a block that begins no run now.  The
    blocks that ever begin a run number at most two a request (they begin the edges of a compressed tree of paths).
    """

    n: np.ndarray  # int64 (2,): requests so far; blocks in all runs
    span: np.ndarray  # int64 (requests,): span that holds the run's first block
    skipped: np.ndarray  # int32 (requests,): blocks of that span before it
    left: np.ndarray  # int64 (requests,): its blocks
    size: np.ndarray  # int64 (requests + 1,): Fenwick tree over the runs' lengths, oldest first
    table_block: np.ndarray  # int32 (power of two, at least four a request): block, or -1
    table_owner: np.ndarray  # int32: request whose run begins with that block, or -1


class Segments(NamedTuple):
    """Facts: request r has the segments ``offsets[r]:offsets[r+1]``."""

    offsets: np.ndarray  # int64 (requests + 1,)
    start: np.ndarray  # int64: smallest capacity, in blocks, at which the first block of the segment is resident
    length: np.ndarray  # int64: blocks; each needs one block of capacity more than the block before it
    age_ns: np.ndarray  # int64: time since all of them were last touched


def new_runs(room: int) -> Runs:
    """Empty, with room for that many requests."""
    slots = 1 << (4 * room + 15).bit_length()
    return Runs(
        n=np.zeros(2, np.int64),
        span=np.empty(room, np.int64),
        skipped=np.empty(room, np.int32),
        left=np.empty(room, np.int64),
        size=np.zeros(room + 1, np.int64),
        table_block=np.full(slots, -1, np.int32),
        table_owner=np.empty(slots, np.int32),
    )


@helper
def push_run(requests, runs, request, blocks):
    """The newest run: the whole of a request."""
    append_place(runs.size, request + 1, blocks)
    runs.n[0] = request + 1
    runs.n[1] += blocks
    runs.left[request] = blocks
    span = requests.span_offsets[request]
    runs.span[request] = span
    runs.skipped[request] = 0
    if blocks > 0:
        own(runs, slot_of(runs, requests.span_first[span]), requests.span_first[span], request)


@entry
def follow_requests(requests, runs, segments, begin, end):
    """Replay requests up to ``end`` (exclusive); return how many are done in all.

    Segments are written from ``segments.offsets[0]`` on, request ``begin`` first.  Stops early, before a request, when
    the room left for segments might not be enough for it: it may have one for each earlier request.
    """
    r = runs.n[0]
    n = segments.offsets[r - begin]
    while r < end and n + r <= len(segments.start):
        now = requests.arrival_ns[r]
        stop = requests.span_offsets[r + 1]
        s, done = requests.span_offsets[r], 0  # the walk stands at block ``done`` of span s
        taken = 0
        next_start, last_age = -1, -1  # a segment that continues the last one is joined to it
        while s < stop:
            block = requests.span_first[s] + done
            slot = slot_of(runs, block)
            if runs.table_block[slot] < 0 or runs.table_owner[slot] < 0:
                break  # never seen before
            owner = np.int64(runs.table_owner[slot])
            t, skipped = runs.span[owner], np.int64(runs.skipped[owner])
            t_stop = requests.span_offsets[owner + 1]
            length, s, done, t, skipped = common(requests, s, done, stop, t, skipped, t_stop, runs.left[owner])
            start = 1 + taken + runs.n[1] - sum_up_to(runs.size, owner + 1)
            age = now - requests.arrival_ns[owner]
            if start == next_start and age == last_age:
                segments.length[n - 1] += length
            else:
                segments.start[n] = start
                segments.length[n] = length
                segments.age_ns[n] = age
                n += 1
            next_start, last_age = start + length, age
            taken += length
            runs.n[1] -= length
            runs.left[owner] -= length
            add_at(runs.size, r, owner + 1, -length)
            runs.table_owner[slot] = -1
            if t < t_stop:
                runs.span[owner] = t
                runs.skipped[owner] = skipped
                block = requests.span_first[t] + skipped
                own(runs, slot_of(runs, block), block, owner)
        blocks = taken - done
        for rest in range(s, stop):
            blocks += requests.span_length[rest]
        push_run(requests, runs, r, blocks)
        r += 1
        segments.offsets[r - begin] = n
    return r


@entry
def register_runs(requests, runs, n):
    """Into empty ``runs`` with room for more: requests 0 .. n - 1, each a run of ``runs.left`` blocks, all of them."""
    for r in range(n):
        push_run(requests, runs, r, runs.left[r])
