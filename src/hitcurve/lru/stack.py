"""One request at a time: the same kernels as a whole replay, over storage that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hitcurve.lru.block_level import new_positions, positions_needed, replay_requests
from hitcurve.lru.run_level import Requests, Segments, follow_requests, new_runs, register_runs
from hitcurve.trace.interning import Interner

Fact = list[tuple[int, int, int]]


class LruStack:
    """The recency order of all blocks seen so far; judges each request at every capacity, then commits it.

    ``identity``: ``prefix``, a block is its whole path of ids (run level); ``raw``, a block is its id alone (block
    level, with the guard that makes facts of ids without a tree a lower bound at finite capacities).

    State: the ids of all unique blocks, and O(requests) at run level: requests whose blocks were all touched again by
    later ones are forgotten.

    >>> stack = LruStack()
    >>> [stack.process(keys, now_ns) for now_ns, keys in enumerate(["abc", "abd", "abc"])]
    [[], [(1, 2, 1)], [(1, 2, 1), (4, 1, 2)]]
    >>> stack.n_blocks
    4
    """

    def __init__(self, identity: str = "prefix") -> None:
        self.interner = Interner(identity)
        self._order: _Runs | _Positions = _Runs() if identity == "prefix" else _Positions()
        self._now_ns = -(2**63)

    @property
    def n_blocks(self) -> int:
        """Unique blocks seen so far."""
        return self.interner.n_blocks

    def process(self, keys: Sequence[Any], now_ns: int, namespace: Any = None) -> Fact:
        """The facts of one request: (start, length, age_ns) of each segment; then all its blocks are touched.

        ``keys``: raw ids of any kind, from the root; ids of two namespaces never meet.  A time before the last one is
        taken as the last one.  O(keys + segments x log requests) at run level, O(keys x log blocks) at block level.
        """
        numbers = np.array([self.interner.namespace(namespace)], np.int64)
        _, first, length = self.interner.add_lists([keys], numbers)
        self._now_ns = max(self._now_ns, now_ns)
        return self._order.process(first, length, self._now_ns, self.n_blocks)

    def live_blocks(self, now_ns: int, ttl_ns: int | None = None) -> int:
        """Unique blocks whose age at ``now_ns`` is less than ``ttl_ns`` (None: all)."""
        if ttl_ns is None:
            return self.n_blocks
        return self._order.touched_after(max(self._now_ns, now_ns) - ttl_ns)


class _Runs:
    """Run level.  Rows of ``_requests`` are the requests that may still own a run."""

    def __init__(self, room: int = 256) -> None:
        self._runs = new_runs(room)
        self._requests = Requests(
            np.empty(room, np.int64), np.zeros(room + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
        )
        self._segments = _no_segments(room)

    def process(self, first: np.ndarray, length: np.ndarray, now_ns: int, n_blocks: int) -> Fact:
        r = int(self._runs.n[0])
        if r == len(self._requests.arrival_ns):
            self._make_room()
            r = int(self._runs.n[0])
        begin = self._requests.span_offsets[r]
        end = begin + len(first)
        if end > len(self._requests.span_first):
            room = 2 * int(end) + 1024
            self._requests = self._requests._replace(
                span_first=_grown(self._requests.span_first, room),
                span_length=_grown(self._requests.span_length, room),
            )
        self._requests.arrival_ns[r] = now_ns
        self._requests.span_offsets[r + 1] = end
        self._requests.span_first[begin:end] = first
        self._requests.span_length[begin:end] = length
        follow_requests(self._requests, self._runs, self._segments, r, r + 1)
        return _fact(self._segments)

    def touched_after(self, time_ns: int) -> int:
        n = int(self._runs.n[0])
        row = int(np.searchsorted(self._requests.arrival_ns[:n], time_ns, side="right"))
        return int(self._runs.left[row:n].sum())

    def _make_room(self) -> None:
        """Forget the requests whose runs are empty, and double the room if that frees less than half of it."""
        old, runs = self._requests, self._runs
        n = int(runs.n[0])
        kept = np.flatnonzero(runs.left[:n])
        room = n if 2 * len(kept) <= n else 2 * n
        spans = old.span_offsets[kept + 1] - runs.span[kept]
        offsets = np.zeros(room + 1, np.int64)
        np.cumsum(spans, out=offsets[1 : len(kept) + 1])
        rows = np.repeat(runs.span[kept] - offsets[: len(kept)], spans) + np.arange(spans.sum())
        first, length = old.span_first[rows], old.span_length[rows]
        first[offsets[: len(kept)]] += runs.skipped[kept]
        length[offsets[: len(kept)]] -= runs.skipped[kept]
        self._requests = Requests(_grown(old.arrival_ns[kept], room), offsets, first, length)
        self._runs = new_runs(room)
        self._runs.left[: len(kept)] = runs.left[kept]
        register_runs(self._requests, self._runs, len(kept))
        self._segments = _no_segments(room)


class _Positions:
    """Block level."""

    def __init__(self) -> None:
        self._blocks = self._longest = 0
        self._positions = new_positions(0, 0)

    def process(self, first: np.ndarray, length: np.ndarray, now_ns: int, n_blocks: int) -> Fact:
        blocks = int(length.sum())
        if n_blocks > self._blocks or blocks > self._longest:
            self._blocks = max(self._blocks, 2 * n_blocks)
            self._longest = max(self._longest, 2 * blocks)
            room = positions_needed(self._blocks, self._longest) + 1
            self._positions = self._positions._replace(
                last=_grown(self._positions.last, self._blocks),
                touched_ns=_grown(self._positions.touched_ns, self._blocks),
                live=_grown(self._positions.live, room),
                block=_grown(self._positions.block, room),
            )
        request = Requests(np.array([now_ns], np.int64), np.array([0, len(first)], np.int64), first, length)
        segments = _no_segments(blocks)
        self._positions.n[0] = 0
        replay_requests(request, self._positions, segments, 0, 1)
        return _fact(segments)

    def touched_after(self, time_ns: int) -> int:
        known = self._positions.last > 0
        return int(np.count_nonzero(self._positions.touched_ns[known] > time_ns))


def _no_segments(room: int) -> Segments:
    """Room for the facts of one request."""
    return Segments(np.zeros(2, np.int64), *(np.empty(room, np.int64) for _ in range(3)))


def _fact(segments: Segments) -> Fact:
    n = segments.offsets[1]
    return list(zip(*(column[:n].tolist() for column in segments[1:]), strict=True))


def _grown(array: np.ndarray, room: int) -> np.ndarray:
    larger = np.zeros(max(room, len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
