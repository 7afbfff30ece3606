"""Recency orders that grow: the kernels of a whole replay, over storage that takes in a batch of requests at a time."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from hitcurve._jit import entry
from hitcurve.kernels.fenwick import append_place
from hitcurve.lru.block_level import Positions, new_positions, positions_needed, replay_requests
from hitcurve.lru.run_level import Requests, Segments, follow_requests, new_runs, register_runs
from hitcurve.trace.interning import grown

Found = TypeVar("Found", covariant=True)  # facts of a batch


class Batch(NamedTuple):
    """Requests of interned blocks; request r has the spans ``offsets[r]:offsets[r+1]``."""

    now_ns: np.ndarray  # int64 (requests,), never decreasing
    offsets: np.ndarray  # int64 (requests + 1,), from 0
    first: np.ndarray  # int32 (spans,)
    length: np.ndarray  # int32 (spans,)


class Order(Protocol[Found]):
    """The recency order of all blocks so far, and of what else is cached with them."""

    def follow(self, batch: Batch, n_blocks: int) -> Found:
        """The facts of a batch, whose blocks are then touched.  ``n_blocks``: unique blocks so far, with the batch."""

    def touched_after(self, time_ns: int) -> int:
        """Blocks last touched after ``time_ns``."""

    def by_blocks(self, n_blocks: int) -> Order[Found]:
        """The same order of the same ``n_blocks`` blocks, at block level."""


class RunOrder:
    """Run level.  Rows of ``_requests`` are the requests that may still own a run; others are forgotten."""

    def __init__(self, room: int = 256) -> None:
        self._runs = new_runs(room)
        self._requests = Requests(
            np.empty(room, np.int64), np.zeros(room + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
        )
        self._room = tuple(np.empty(2 * room, np.int64) for _ in range(3))

    def follow(self, batch: Batch, n_blocks: int) -> Segments:
        more = len(batch.now_ns)
        if int(self._runs.n[0]) + more > len(self._requests.arrival_ns):
            self._make_room(more)
        begin = int(self._runs.n[0])
        end = begin + more
        self._requests = appended(self._requests, batch, begin)
        offsets = np.zeros(more + 1, np.int64)
        while follow_requests(self._requests, self._runs, Segments(offsets, *self._room), begin, end) < end:
            self._room = tuple(grown(column, 2 * len(column) + end) for column in self._room)
        start, length, age_ns = (column[: offsets[-1]].copy() for column in self._room)
        return Segments(offsets, start, length, age_ns)

    def touched_after(self, time_ns: int) -> int:
        n = int(self._runs.n[0])
        row = int(np.searchsorted(self._requests.arrival_ns[:n], time_ns, side="right"))
        return int(self._runs.left[row:n].sum())

    def by_blocks(self, n_blocks: int) -> BlockOrder:
        """The same order of the same ``n_blocks`` blocks, at block level."""
        positions = new_positions(n_blocks, 0)
        unroll(self._requests, self._runs, positions)
        return BlockOrder(positions)

    def _make_room(self, more: int) -> None:
        """Forget the requests whose runs are empty; make the room four times what is left, if it is less."""
        runs = self._runs
        kept = np.flatnonzero(runs.left[: runs.n[0]])
        room = max(len(runs.left), 4 * (len(kept) + more))
        self._requests = shortened(self._requests, runs, kept, room)
        self._runs = new_runs(room)
        self._runs.left[: len(kept)] = runs.left[kept]
        register_runs(self._requests, self._runs, len(kept))
        self._room = tuple(grown(column, 2 * room) for column in self._room)


class BlockOrder:
    """Block level."""

    def __init__(self, positions: Positions | None = None) -> None:
        self._positions = new_positions(0, 0) if positions is None else positions
        self._blocks, self._longest = len(self._positions.last), 0

    def follow(self, batch: Batch, n_blocks: int) -> Segments:
        before = np.concatenate([[0], np.cumsum(batch.length, dtype=np.int64)])
        blocks = np.diff(before[batch.offsets])
        longest = int(blocks.max(initial=0))
        if n_blocks > self._blocks or longest > self._longest:
            self._blocks, self._longest = max(self._blocks, 2 * n_blocks), max(self._longest, 2 * longest)
            room = positions_needed(self._blocks, self._longest) + 1
            self._positions = self._positions._replace(
                last=grown(self._positions.last, self._blocks),
                touched_ns=grown(self._positions.touched_ns, self._blocks),
                live=grown(self._positions.live, room),
                block=grown(self._positions.block, room),
            )
        requests = Requests(*batch)
        room = int(blocks.sum())
        segments = Segments(np.zeros(len(blocks) + 1, np.int64), *(np.empty(room, np.int64) for _ in range(3)))
        self._positions.n[0] = 0
        replay_requests(requests, self._positions, segments, 0, len(blocks))
        return Segments(segments.offsets, *(column[: segments.offsets[-1]] for column in segments[1:]))

    def by_blocks(self, n_blocks: int) -> BlockOrder:
        """Itself."""
        return self

    def touched_after(self, time_ns: int) -> int:
        known = self._positions.last > 0
        return int(np.count_nonzero(self._positions.touched_ns[known] > time_ns))


@entry
def unroll(requests, runs, positions):
    """Into empty ``positions`` with room for all blocks: the blocks of all runs, the oldest run's last block first."""
    n = 0
    for r in range(runs.n[0]):
        if runs.left[r] == 0:
            continue
        for span in range(requests.span_offsets[r + 1] - 1, runs.span[r] - 1, -1):
            skipped = runs.skipped[r] if span == runs.span[r] else 0
            for k in range(requests.span_length[span] - 1, skipped - 1, -1):
                block = requests.span_first[span] + k
                n += 1
                append_place(positions.live, n, 1)
                positions.block[n] = block
                positions.last[block] = n
                positions.touched_ns[block] = requests.arrival_ns[r]
    positions.n[1] = n
    positions.n[2] = n


def appended(requests: Requests, batch: Batch, begin: int) -> Requests:
    """The batch added as requests ``begin`` on, for which there is room; room for spans is made."""
    end = begin + len(batch.now_ns)
    spans = int(requests.span_offsets[begin])
    last = spans + len(batch.first)
    if last > len(requests.span_first):
        room = 2 * last + 1024
        requests = requests._replace(
            span_first=grown(requests.span_first, room), span_length=grown(requests.span_length, room)
        )
    requests.arrival_ns[begin:end] = batch.now_ns
    requests.span_offsets[begin + 1 : end + 1] = batch.offsets[1:] + spans
    requests.span_first[spans:last] = batch.first
    requests.span_length[spans:last] = batch.length
    return requests


def shortened(old: Requests, runs: Any, kept: np.ndarray, room: int) -> Requests:
    """The requests ``kept``, with room for more, each with the spans of its run alone (fields span, skipped, left)."""
    owning = runs.left[kept] > 0
    spans = np.where(owning, old.span_offsets[kept + 1] - runs.span[kept], 0)
    offsets = np.zeros(room + 1, np.int64)
    np.cumsum(spans, out=offsets[1 : len(kept) + 1])
    rows = np.repeat(runs.span[kept] - offsets[: len(kept)], spans) + np.arange(spans.sum())
    first, length = old.span_first[rows], old.span_length[rows]
    begins, skipped = offsets[: len(kept)][owning], runs.skipped[kept][owning]
    first[begins] += skipped
    length[begins] -= skipped
    return Requests(grown(old.arrival_ns[kept], room), offsets, first, length)
