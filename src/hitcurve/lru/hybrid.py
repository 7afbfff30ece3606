"""HybridFacts: what one replay of a hybrid model says about every capacity in bytes and every time to live."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.kernels.envelope import Points
from hitcurve.lru.byte_curve import ByteCurve
from hitcurve.lru.byte_projection import BytePoints, Charges, byte_hits_per_request, byte_points
from hitcurve.lru.hits import Hits
from hitcurve.projection import blocks_of, ttl_in_ns
from hitcurve.trace import Trace


@dataclass(frozen=True, repr=False)
class HybridFacts(Hits):
    """Request r has the progressions ``progressions.offsets[r]:progressions.offsets[r+1]`` of *points*.

    A point says: in a cache of so many bytes the request hits so many blocks.  ``charges`` are the bytes of a full
    attention block and of a linear attention state, and the blocks from one scheduled state to the next.

    A hit is a block up to the last position whose state is resident when the request arrives, as are all blocks up to
    there.  Capacities are bytes (None: infinite), times to live seconds (None: no limit; blocks and states are alive
    while their age is less).  Every question costs O(progressions + requests), up to a logarithm; a progression is one
    point at least, and usually there are two of them a request.
    """

    axis = "capacity_bytes"
    hit = (
        "a block up to the last one whose state is resident when its request arrives, and so are all blocks up to there"
    )

    trace: Trace
    method: str
    exact: bool
    charges: Charges
    progressions: Points

    @cached_property
    def byte_points(self) -> BytePoints:
        """All points of all requests, one by one.  O(points)."""
        return byte_points(self.progressions, self.charges)

    def request_points(self, request: int, ttl: float | None = None) -> list[tuple[int, int, int]]:
        """(capacity in bytes, hit blocks, age_ns) of each point of one request under one time to live."""
        begin, end = self.progressions.offsets[request : request + 2]
        own = Points(np.array([0, end - begin]), *(column[begin:end] for column in self.progressions[1:]))
        points = byte_points(own, self.charges)
        rows = zip(*(column.tolist() for column in points[1:]), strict=True)
        return [row for row in rows if row[2] < ttl_in_ns(ttl)]

    def charged(self, full_bytes: int, linear_bytes: int) -> HybridFacts:
        """The facts under other charges, with no replay: the recency order does not depend on them.

        BadParameter for states of 0 bytes, or where they have 0 bytes here: that is full attention, another order.
        """
        if not (linear_bytes and self.charges.linear):
            raise BadParameter("linear_bytes: states of 0 bytes are no states; that takes a replay of its own")
        return replace(self, charges=Charges.of(full_bytes, linear_bytes, self.charges.step, self.trace.n_blocks))

    def hits_per_request(self, capacity: int | None = None, ttl: float | None = None) -> np.ndarray:
        """int64 (requests,): hit blocks of each request."""
        return byte_hits_per_request(self.progressions, self.charges, blocks_of(capacity, "bytes"), ttl_in_ns(ttl))

    def block_curve(self, ttl: float | None = None) -> ByteCurve:
        """Hit blocks at every capacity."""
        return ByteCurve.of(self.progressions, self.charges, ttl_in_ns(ttl))

    def full_block_curve(self, ttl: float | None = None) -> ByteCurve:
        """Hit full blocks at every capacity; times the block size they are ``hit_tokens``."""
        most = self.full_blocks if self._has_tails else None
        return ByteCurve.of(self.progressions, self.charges, ttl_in_ns(ttl), most)

    def tail_token_curve(self, ttl: float | None = None) -> ByteCurve:
        """``tail_hit_tokens`` at every capacity."""
        return ByteCurve.beyond(
            self.progressions, self.charges, ttl_in_ns(ttl), self.full_blocks, np.asarray(self.tail_tokens)
        )

    def provenance(self) -> dict[str, Any]:
        """What was counted over what; ready for JSON."""
        full, linear, step = self.charges
        model = {"full_bytes": full, "linear_bytes": linear, "linear_step_blocks": step if linear else None}
        return {**super().provenance(), **({} if linear else {"hit": Hits.hit}), **model}

    def __repr__(self) -> str:
        most = self.hit_blocks()
        return (
            f"<HybridFacts: {len(self):,} requests, {int(self.progressions.length.sum()):,} points in "
            f"{len(self.progressions.length):,} progressions, {self.method} level, "
            f"{'exact' if self.exact else 'a lower bound'}; "
            f"an infinite cache hits {most:,} blocks, {most / max(self.trace.n_block_refs, 1):.1%}>"
        )
