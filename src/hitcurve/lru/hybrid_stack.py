"""Requests as they come, for hybrid models: the same kernels as a whole replay, over storage that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from hitcurve.kernels.envelope import Points
from hitcurve.lru.byte_projection import BytePoints, Charges, byte_points, points_of_segments
from hitcurve.lru.hybrid_recency import HybridOrder, HybridRunOrder
from hitcurve.lru.recency import Batch, Order, RunOrder
from hitcurve.lru.run_level import Segments
from hitcurve.lru.stack import Stack
from hitcurve.projection import whole_blocks


class HybridStack(Stack[Points]):
    """The recency order of all blocks and states so far; judges each request at every capacity in bytes, then commits.

    ``full_bytes``: one block of the full attention layers; ``linear_bytes``: one state of the linear attention layers,
    written at every ``step_blocks``-th block (0: every block) and at the end of a request.  ``linear_bytes`` 0: there
    are no states, and the points are the segments of ``LruStack`` block by block.  ``identity`` as for ``LruStack``;
    the points are exact for ids without a tree too, unless there are no states.

    State: the ids of all unique blocks, and at run level 33 bits a unique block and O(requests), where requests are
    forgotten of which nothing is left that no later one touched; O(unique blocks) at block level.

    >>> stack = HybridStack(full_bytes=10, linear_bytes=1, step_blocks=3)
    >>> [stack.process(keys, now_ns) for now_ns, keys in enumerate(["ab", "abcd"])]
    [[], [(21, 2, 1)]]
    >>> stack.resident_bytes(2)
    43
    """

    def __init__(self, full_bytes: int, linear_bytes: int, step_blocks: int, identity: str = "prefix") -> None:
        self.charges = Charges.of(full_bytes, linear_bytes, step_blocks)
        order: HybridOrder = HybridRunOrder(self.charges.step) if self.charges.linear else _FullOrder(RunOrder())
        super().__init__(identity, order)

    @property
    def exact(self) -> bool:
        """False where points are a lower bound at finite capacities: raw ids broke the contract and have no states."""
        return self.interner.by_path or self.charges.linear > 0

    def process(self, keys: Sequence[Any], now_ns: int, namespace: Any = None) -> list[tuple[int, int, int]]:
        """The facts of one request: (capacity in bytes, hit blocks, age_ns) of each point; then all of it is touched.

        Arguments as of ``LruStack.process``.
        """
        points = self._in_bytes(self._follow_one(keys, now_ns, namespace))
        return list(zip(*(column.tolist() for column in points[1:]), strict=True))

    def process_batch(self, keys: np.ndarray, offsets: np.ndarray, now_ns: np.ndarray) -> BytePoints:
        """The same for many requests, as ``LruStack.process_batch`` takes them."""
        return self._in_bytes(self._follow_many(keys, offsets, now_ns))

    def resident_bytes(self, now_ns: int, ttl_ns: int | None = None) -> int:
        """Bytes of all blocks and states whose age at ``now_ns`` is less than ``ttl_ns`` (None: all)."""
        return int(self.charges.bytes_of(*self._holding.held_after(self._oldest(now_ns, ttl_ns))))

    def blocks_within(self, capacity_bytes: int, now_ns: int, ttl_ns: int | None = None) -> int:
        """Blocks that a cache of so many bytes holds at ``now_ns``: those among the newest objects that fit together,
        younger than ``ttl_ns``.
        """
        within = self._holding.blocks_within(self.charges.full, self.charges.linear, capacity_bytes)
        return min(within, self.live_blocks(now_ns, ttl_ns))

    @property
    def _holding(self) -> HybridOrder:
        return cast(HybridOrder, self._order)

    def _oldest(self, now_ns: int, ttl_ns: int | None) -> int:
        return -(2**63) if ttl_ns is None else max(self._now_ns, now_ns) - ttl_ns

    def _in_bytes(self, points: Points) -> BytePoints:
        self.charges.check(self.n_blocks)
        return byte_points(points, self.charges)


class _FullOrder:
    """Blocks without states, each a point."""

    def __init__(self, blocks: Order[Segments]) -> None:
        self._blocks = blocks

    def follow(self, batch: Batch, n_blocks: int) -> Points:
        return points_of_segments(self._blocks.follow(batch, n_blocks))

    def touched_after(self, time_ns: int) -> int:
        return self._blocks.touched_after(time_ns)

    def held_after(self, time_ns: int) -> tuple[int, int]:
        return self._blocks.touched_after(time_ns), 0

    def blocks_within(self, full: int, linear: int, budget: int) -> int:
        return whole_blocks(budget, full)

    def by_blocks(self, n_blocks: int) -> _FullOrder:
        return _FullOrder(self._blocks.by_blocks(n_blocks))
