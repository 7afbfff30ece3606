"""Facts: what one replay says about every capacity and every time to live."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hitcurve.lru.hit_curve import HitCurve
from hitcurve.lru.hits import Hits
from hitcurve.projection import INFINITE, alive, blocks_of, hits_per_request, ttl_in_ns
from hitcurve.trace import Trace


@dataclass(frozen=True, repr=False)
class Facts(Hits):
    """Request r has the segments ``segment_offsets[r]:segment_offsets[r+1]``, its blocks from the root on:

    ``start``    int64, the smallest capacity (blocks) at which the first block of the segment is resident
    ``length``   int64, blocks; each needs one block of capacity more than the one before it
    ``age_ns``   int64, time since they were last touched

    Blocks behind the last segment were never seen before.  ``method`` is ``run`` or ``block``; ``exact`` is False where
    hits at finite capacities are a lower bound.

    A hit is a block that is resident when its request arrives, as are all blocks before it in the request.  Capacities
    are blocks (None: infinite), times to live seconds (None: no limit; a block is alive while its age is less).
    Every question costs O(segments + requests), up to a logarithm.
    """

    axis = "capacity_blocks"

    trace: Trace
    method: str
    exact: bool
    segment_offsets: np.ndarray
    start: np.ndarray
    length: np.ndarray
    age_ns: np.ndarray

    def segments(self, request: int) -> list[tuple[int, int, int]]:
        """(start, length, age_ns) of one request."""
        own = slice(self.segment_offsets[request], self.segment_offsets[request + 1])
        return list(zip(self.start[own].tolist(), self.length[own].tolist(), self.age_ns[own].tolist(), strict=True))

    def hit_curve(self, request: int, ttl: float | None = None) -> list[tuple[int, int]]:
        """(start, length) of one request under one time to live: its hits at every capacity, as LiteHit writes them."""
        joined: list[tuple[int, int]] = []
        limit = ttl_in_ns(ttl)
        for start, length, age_ns in self.segments(request):
            if age_ns >= limit:
                break
            if joined and sum(joined[-1]) == start:
                start, length = joined[-1][0], joined.pop()[1] + length
            joined.append((start, length))
        return joined

    def hits_per_request(self, capacity: int | None = None, ttl: float | None = None) -> np.ndarray:
        """int64 (requests,): hit blocks of each request."""
        return hits_per_request(
            self.segment_offsets, self.start, self.length, self.age_ns, blocks_of(capacity), ttl_in_ns(ttl)
        )

    def block_curve(self, ttl: float | None = None) -> HitCurve:
        """Hit blocks at every capacity."""
        limit = ttl_in_ns(ttl)
        if limit == INFINITE:
            return HitCurve.of(self.start, self.length)
        kept = alive(self.segment_offsets, self.age_ns, limit)
        return HitCurve.of(self.start[kept], self.length[kept])

    def full_block_curve(self, ttl: float | None = None) -> HitCurve:
        """Hit full blocks at every capacity; times the block size they are ``hit_tokens``."""
        if not self._has_tails:
            return self.block_curve(ttl)
        full = np.clip(self._before_tail, 0, self.length)
        kept = alive(self.segment_offsets, self.age_ns, ttl_in_ns(ttl)) & (full > 0)
        return HitCurve.of(self.start[kept], full[kept])

    def tail_token_curve(self, ttl: float | None = None) -> HitCurve:
        """``tail_hit_tokens`` at every capacity."""
        before, tokens = self._before_tail, np.repeat(self.tail_tokens, np.diff(self.segment_offsets))
        kept = alive(self.segment_offsets, self.age_ns, ttl_in_ns(ttl))
        kept &= (before >= 0) & (before < self.length) & (tokens > 0)
        return HitCurve.of((self.start + before)[kept], np.ones(kept.sum(), np.int64), tokens[kept])

    def __repr__(self) -> str:
        most = self.hit_blocks()
        return (
            f"<Facts: {len(self):,} requests in {len(self.start):,} segments, {self.method} level, "
            f"{'exact' if self.exact else 'a lower bound'}; "
            f"an infinite cache hits {most:,} blocks, {most / max(self.trace.n_block_refs, 1):.1%}>"
        )

    @cached_property
    def _before_tail(self) -> np.ndarray:
        """int64 (segments,): full blocks of the request from the segment's first block on; negative behind them."""
        before = np.concatenate([[0], np.cumsum(self.length)])
        root = before[self.segment_offsets[:-1]]
        return np.repeat(self.full_blocks + root, np.diff(self.segment_offsets)) - before[:-1]
