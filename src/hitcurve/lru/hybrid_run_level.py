"""Exact LRU of a hybrid model on runs: states at every ``step``-th position never leave their block.

A request touches the states at every ``step``-th position of its path, each together with its block, and one more at
its end.  So the recency order is a row for each past request, newest first: its run, in which states stand at
arithmetic places, and then, unless ``step`` divides its length, the state of its last block (its *tail state*).

    step 2        r1 = a b c d e      r2 = a b x      (A: the state of a)

    after r1      a b B c d D e E
    after r2      a b B x X . c d D e E

    then a b x y  a b B x y Y . X . c d D e E         the tail state X stays: no request ended there again

A run is taken from the front by later requests, as with blocks alone.  A tail state is taken by a request that ends at
the same block, and by no other; till then it keeps its row alive.  ``docs/hybrid-models.md`` proves both, and that of
the tail states on a request's path only those behind the last ``step``-th position of a segment can be of use.

Cost: O(spans + segments x (log requests + step / 64)) a request, and O(log requests) for each tail state of use.
State: O(requests), 80 to 112 bytes each, and 33 bits a unique block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.bits import add, has, new_bits, stretch_start
from hitcurve.kernels.envelope import STATE, put_points
from hitcurve.kernels.fenwick import add_at, append_place, sum_up_to
from hitcurve.kernels.following import common, own, slot_of


class Rows(NamedTuple):
    """The recency order; request r owns one row, perhaps empty, and newer requests have larger numbers."""

    n: np.ndarray  # int64 (2,): requests so far; blocks + STATE * states in all rows
    span: np.ndarray  # int64 (requests,): span that holds the run's first block
    skipped: np.ndarray  # int32 (requests,): blocks of that span before it
    left: np.ndarray  # int64 (requests,): blocks of the run
    depth: np.ndarray  # int64 (requests,): blocks of the whole path
    tail: np.ndarray  # int32 (requests,): last block of the path, while its tail state is in this row; else -1
    size: np.ndarray  # int64 (requests + 1,): Fenwick tree over blocks + STATE * states of rows, oldest first
    table_block: np.ndarray  # int32 (power of two, at least four a request): block, or -1
    table_owner: np.ndarray  # int32: request whose run begins with that block, or -1
    tails: np.ndarray  # bits (blocks,): blocks that have a tail state
    tail_owner: np.ndarray  # int32 (blocks,): request in whose row it is
    met: np.ndarray  # int32 (requests, 2): scratch, tail states that a walk has met: request, depth below it


def new_rows(room: int, blocks: int) -> Rows:
    """Empty, with room for that many requests and unique blocks."""
    slots = 1 << (4 * room + 15).bit_length()
    return Rows(
        n=np.zeros(2, np.int64),
        span=np.empty(room, np.int64),
        skipped=np.empty(room, np.int32),
        left=np.empty(room, np.int64),
        depth=np.empty(room, np.int64),
        tail=np.empty(room, np.int32),
        size=np.zeros(room + 1, np.int64),
        table_block=np.full(slots, -1, np.int32),
        table_owner=np.empty(slots, np.int32),
        tails=new_bits(blocks),
        tail_owner=np.empty(blocks, np.int32),
        met=np.empty((room, 2), np.int32),
    )


@helper
def objects_between(step, above, below):
    """Blocks at depths ``above`` to ``below``, and the states at every ``step``-th position among them."""
    return below - above + STATE * (below // step - above // step)


@helper
def push_row(requests, rows, request, step):
    """The newest row: ``rows.left`` last blocks of the path of ``rows.depth``, and the tail state ``rows.tail``."""
    size = objects_between(step, rows.depth[request] - rows.left[request], rows.depth[request])
    if rows.tail[request] >= 0:
        size += STATE
        add(rows.tails, np.int64(rows.tail[request]))
        rows.tail_owner[rows.tail[request]] = request
    append_place(rows.size, request + 1, size)
    rows.n[0] = request + 1
    rows.n[1] += size
    span = requests.span_offsets[request]
    rows.span[request] = span
    rows.skipped[request] = 0
    if rows.left[request] > 0:
        own(rows, slot_of(rows, requests.span_first[span]), requests.span_first[span], request)


@helper
def meet_tails(requests, rows, owner, s, done, depth, ahead):
    """Note tail states among the ``ahead`` blocks that end with block ``done`` - 1 of span s, deepest first: those that
    are newer than all deeper ones.  Return how many.

    ``depth``: blocks from the root to there.  The run they are in is that of ``owner``; no tail state there is newer.
    """
    n = 0
    newest = np.int64(-1)
    while ahead > 0 and newest < owner:
        if done == 0:
            s -= 1
            done = np.int64(requests.span_length[s])
        end = np.int64(requests.span_first[s]) + done
        lowest = end - min(done, ahead)
        block = end
        while block > lowest and newest < owner:
            block = stretch_start(rows.tails, lowest, block, False) - 1
            if block >= lowest and rows.tail_owner[block] > newest:
                newest = np.int64(rows.tail_owner[block])
                rows.met[n, 0] = newest
                rows.met[n, 1] = depth - (end - block) + 1
                n += 1
        ahead -= end - lowest
        depth -= end - lowest
        done = np.int64(0)
    return n


@entry
def follow_hybrid_requests(requests, rows, points, step, begin, end):
    """Replay requests up to ``end`` (exclusive); return how many are done in all.

    Progressions are written from ``points.offsets[0]`` on, request ``begin`` first.  Stops early, before a request,
    when the room left might not be enough: each earlier request may give a progression and a tail state.
    """
    r = rows.n[0]
    n = points.offsets[r - begin]
    while r < end and n + 2 * r <= len(points.blocks):
        now = requests.arrival_ns[r]
        stop = requests.span_offsets[r + 1]
        s, done = requests.span_offsets[r], 0  # the walk stands at block ``done`` of span s
        depth = taken = np.int64(0)  # blocks walked over; those blocks and their states
        first = n
        while s < stop:
            block = requests.span_first[s] + done
            slot = slot_of(rows, block)
            if rows.table_block[slot] < 0 or rows.table_owner[slot] < 0:
                break  # never seen before
            owner = np.int64(rows.table_owner[slot])
            t, skipped = rows.span[owner], np.int64(rows.skipped[owner])
            t_stop = requests.span_offsets[owner + 1]
            length, s, done, t, skipped = common(requests, s, done, stop, t, skipped, t_stop, rows.left[owner])
            length = np.int64(length)
            count = (depth + length) // step - depth // step
            if count > 0:
                newer = taken + rows.n[1] - sum_up_to(rows.size, owner + 1)
                hits = (depth // step + 1) * step
                room = newer + hits - depth + STATE
                n = put_points(points, first, n, step, room, hits, count, now - requests.arrival_ns[owner])
            part = length + STATE * count
            depth += length
            taken += part
            rows.n[1] -= part
            rows.left[owner] -= length
            add_at(rows.size, r, owner + 1, -part)
            rows.table_owner[slot] = -1
            if t < t_stop:
                rows.span[owner] = t
                rows.skipped[owner] = skipped
                block = requests.span_first[t] + skipped
                own(rows, slot_of(rows, block), block, owner)
            for i in range(meet_tails(requests, rows, owner, s, done, depth, min(length, depth % step)) - 1, -1, -1):
                owner = np.int64(rows.met[i, 0])
                room = taken + rows.n[1] - sum_up_to(rows.size, owner)
                hits = int(rows.met[i, 1])
                n = put_points(points, first, n, step, room, hits, 1, now - requests.arrival_ns[owner])
        depth -= done
        for rest in range(s, stop):
            depth += requests.span_length[rest]
        rows.left[r] = rows.depth[r] = depth
        rows.tail[r] = -1
        if depth % step:
            block = np.int64(requests.span_first[stop - 1]) + requests.span_length[stop - 1] - 1
            rows.tail[r] = block
            if has(rows.tails, block):
                owner = np.int64(rows.tail_owner[block])
                rows.tail[owner] = -1
                rows.n[1] -= STATE
                add_at(rows.size, r, owner + 1, -STATE)
        push_row(requests, rows, r, step)
        r += 1
        points.offsets[r - begin] = n
    return r


@entry
def register_rows(requests, rows, step, n):
    """Into empty ``rows`` with room for more: requests 0 .. n - 1, whose left, depth and tail are set."""
    for r in range(n):
        push_row(requests, rows, r, step)
