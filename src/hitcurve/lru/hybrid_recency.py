"""Recency orders of hybrid models that grow: blocks and states, over storage that takes in batches of requests."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.kernels.envelope import STATE, Points
from hitcurve.kernels.fenwick import append_place
from hitcurve.lru.hybrid_block_level import Objects, new_objects, positions_needed, replay_hybrid_requests
from hitcurve.lru.hybrid_run_level import follow_hybrid_requests, new_rows, register_rows
from hitcurve.lru.recency import Batch, Order, appended, shortened
from hitcurve.lru.run_level import Requests
from hitcurve.trace.interning import grown


class HybridOrder(Order[Points], Protocol):
    """The recency order of all blocks and states so far."""

    def held_after(self, time_ns: int) -> tuple[int, int]:
        """Blocks and states last touched after ``time_ns``."""

    def blocks_within(self, full: int, linear: int, budget: int) -> int:
        """Blocks among the newest objects that weigh ``budget`` at most, a block ``full`` and a state ``linear``."""


class HybridRunOrder:
    """Run level.  Requests whose rows are empty are forgotten."""

    def __init__(self, step: int, room: int = 256) -> None:
        self._step = step
        self._rows = new_rows(room, 0)
        self._requests = Requests(
            np.empty(room, np.int64), np.zeros(room + 1, np.int64), np.empty(0, np.int32), np.empty(0, np.int32)
        )
        self._room = tuple(np.empty(4 * room, np.int64) for _ in range(5))

    def follow(self, batch: Batch, n_blocks: int) -> Points:
        more = len(batch.now_ns)
        if n_blocks > len(self._rows.tail_owner):
            self._rows = self._rows._replace(
                tails=grown(self._rows.tails, 2 * n_blocks // 64 + 2),
                tail_owner=grown(self._rows.tail_owner, 2 * n_blocks),
            )
        if int(self._rows.n[0]) + more > len(self._requests.arrival_ns):
            self._make_room(more)
        begin = int(self._rows.n[0])
        end = begin + more
        self._requests = appended(self._requests, batch, begin)
        offsets = np.zeros(more + 1, np.int64)
        while (
            follow_hybrid_requests(self._requests, self._rows, Points(offsets, *self._room), self._step, begin, end)
            < end
        ):
            self._room = tuple(grown(column, 2 * len(column) + 2 * end) for column in self._room)
        return Points(offsets, *(column[: offsets[-1]].copy() for column in self._room))

    def touched_after(self, time_ns: int) -> int:
        return self.held_after(time_ns)[0]

    def held_after(self, time_ns: int) -> tuple[int, int]:
        n = int(self._rows.n[0])
        row = int(np.searchsorted(self._requests.arrival_ns[:n], time_ns, side="right"))
        return int(self._rows.left[row:n].sum()), int(self._states()[row:].sum())

    def blocks_within(self, full: int, linear: int, budget: int) -> int:
        n = int(self._rows.n[0])
        left, depth = self._rows.left[:n], self._rows.depth[:n]
        weights = (full * left + linear * self._states())[::-1]
        whole = int(np.searchsorted(np.cumsum(weights), budget, side="right"))  # newest rows that fit whole
        blocks = int(left[n - whole :].sum())
        if whole == n:
            return blocks
        row = n - whole - 1
        nth = np.arange(left[row])
        above = depth[row] - left[row]
        needed = full * (nth + 1) + linear * ((above + nth) // self._step - above // self._step)
        return blocks + int(np.searchsorted(needed, budget - int(weights[:whole].sum()), side="right"))

    def by_blocks(self, n_blocks: int) -> HybridBlockOrder:
        """The same order of the same ``n_blocks`` blocks, at block level."""
        objects = new_objects(n_blocks, 0)
        unroll_rows(self._requests, self._rows, objects, self._step)
        return HybridBlockOrder(self._step, objects)

    def _states(self) -> np.ndarray:
        """int64 (rows,): states in each row."""
        n = int(self._rows.n[0])
        left, depth = self._rows.left[:n], self._rows.depth[:n]
        return depth // self._step - (depth - left) // self._step + (self._rows.tail[:n] >= 0)

    def _make_room(self, more: int) -> None:
        """Forget the requests whose rows are empty; double the room unless ``more`` then fit into half of it."""
        old = self._rows
        n = int(old.n[0])
        kept = np.flatnonzero((old.left[:n] > 0) | (old.tail[:n] >= 0))
        room = max(len(old.left), 2 * (len(kept) + more))
        self._requests = shortened(self._requests, old, kept, room)
        self._rows = new_rows(room, 0)._replace(tails=old.tails, tail_owner=old.tail_owner)
        for column, before in ((self._rows.left, old.left), (self._rows.depth, old.depth), (self._rows.tail, old.tail)):
            column[: len(kept)] = before[kept]
        register_rows(self._requests, self._rows, self._step, len(kept))
        self._room = tuple(grown(column, 4 * room) for column in self._room)


class HybridBlockOrder:
    """Block level."""

    def __init__(self, step: int, objects: Objects | None = None) -> None:
        self._step = step
        self._objects = new_objects(0, 0) if objects is None else objects
        self._blocks, self._longest = len(self._objects.last) // 2, 0

    def follow(self, batch: Batch, n_blocks: int) -> Points:
        before = np.concatenate([[0], np.cumsum(batch.length, dtype=np.int64)])
        blocks = np.diff(before[batch.offsets])
        longest = int(blocks.max(initial=0))
        if n_blocks > self._blocks or longest > self._longest:
            self._blocks, self._longest = max(self._blocks, 2 * n_blocks), max(self._longest, 2 * longest)
            room = positions_needed(self._blocks, self._longest) + 1
            self._objects = self._objects._replace(
                last=grown(self._objects.last, 2 * self._blocks),
                touched_ns=grown(self._objects.touched_ns, 2 * self._blocks),
                live=grown(self._objects.live, room),
                at=grown(self._objects.at, room),
            )
        n = len(blocks)
        points = Points(np.zeros(n + 1, np.int64), *(np.empty(int(blocks.sum()), np.int64) for _ in range(5)))
        self._objects.n[0] = 0
        replay_hybrid_requests(Requests(*batch), self._objects, points, self._step, 0, n)
        return Points(points.offsets, *(column[: points.offsets[-1]] for column in points[1:]))

    def touched_after(self, time_ns: int) -> int:
        return self.held_after(time_ns)[0]

    def held_after(self, time_ns: int) -> tuple[int, int]:
        held = (self._objects.last > 0) & (self._objects.touched_ns > time_ns)
        return int(np.count_nonzero(held[0::2])), int(np.count_nonzero(held[1::2]))

    def blocks_within(self, full: int, linear: int, budget: int) -> int:
        at = self._objects.at[1 : self._objects.n[2] + 1]
        things = at[self._objects.last[at] == np.arange(1, len(at) + 1)][::-1]
        needed = np.cumsum(np.where(things & 1, linear, full))
        return int(np.count_nonzero(things[: np.searchsorted(needed, budget, side="right")] & 1 == 0))

    def by_blocks(self, n_blocks: int) -> HybridBlockOrder:
        """Itself."""
        return self


@entry
def unroll_rows(requests, rows, objects, step):
    """Into empty ``objects`` with room for all blocks: all blocks and states, the oldest row's last first."""
    for r in range(rows.n[0]):
        now = requests.arrival_ns[r]
        if rows.tail[r] >= 0:
            touch(objects, 2 * np.int64(rows.tail[r]) + 1, now)
        if rows.left[r] == 0:
            continue
        depth = rows.depth[r]
        for span in range(requests.span_offsets[r + 1] - 1, rows.span[r] - 1, -1):
            first = np.int64(requests.span_first[span])
            skipped = rows.skipped[r] if span == rows.span[r] else 0
            for block in range(first + requests.span_length[span] - 1, first + skipped - 1, -1):
                if depth % step == 0:
                    touch(objects, 2 * block + 1, now)
                touch(objects, 2 * block, now)
                depth -= 1


@helper
def touch(objects, thing, now):
    """Put a new object in front."""
    weight = STATE if thing & 1 else 1
    n = objects.n[2] + 1
    append_place(objects.live, n, weight)
    objects.last[thing] = n
    objects.at[n] = thing
    objects.touched_ns[thing] = now
    objects.n[1] = objects.n[2] = n
    objects.n[3] += weight
