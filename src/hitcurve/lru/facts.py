"""Facts: what one replay says about every capacity and every time to live, and the questions they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from hitcurve._version import __version__
from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.lru.points import points, seconds
from hitcurve.lru.projection import INFINITE, HitCurve, alive, blocks_of, hits_per_request, ttl_in_ns
from hitcurve.table import Table
from hitcurve.trace import Trace

LOWER_BOUND = (
    "a lower bound at finite capacities, exact at infinite capacity: one id stands after different ids, "
    "or twice in one request"
)
NO_TOKENS = "not known: needs the block size, and the input tokens of every request"


@dataclass(frozen=True, repr=False)
class Facts:
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

    @cached_property
    def in_tokens(self) -> bool:
        """Whether hits can be told in tokens: the block size is known, and the input tokens of every request."""
        tokens = self.trace.input_tokens
        return self.trace.definition.block_size is not None and tokens is not None and int(tokens.min(initial=0)) >= 0

    @cached_property
    def block_size(self) -> int:
        """Tokens in a full block.  UnsupportedTrace where hits cannot be told in tokens."""
        if not self.in_tokens:
            raise UnsupportedTrace(f"hits in tokens are {NO_TOKENS}")
        return self.trace.definition.block_size or 0

    @cached_property
    def input_tokens(self) -> np.ndarray:
        """int64 (requests,).  UnsupportedTrace where hits cannot be told in tokens."""
        if not self.in_tokens or self.trace.input_tokens is None:
            raise UnsupportedTrace(f"hits in tokens are {NO_TOKENS}")
        return self.trace.input_tokens

    @cached_property
    def full_blocks(self) -> np.ndarray:
        """int64 (requests,): blocks of each request that its input tokens fill."""
        return self.input_tokens // self.block_size

    @cached_property
    def tail_tokens(self) -> np.ndarray:
        """int64 (requests,): tokens of each request in the partial block after them, where its ids include one."""
        return np.where(self.trace.request_blocks > self.full_blocks, self.input_tokens % self.block_size, 0)

    def hits_per_request(self, capacity: int | None = None, ttl: float | None = None) -> np.ndarray:
        """int64 (requests,): hit blocks of each request."""
        return hits_per_request(
            self.segment_offsets, self.start, self.length, self.age_ns, blocks_of(capacity), ttl_in_ns(ttl)
        )

    def hit_blocks(self, capacity: int | None = None, ttl: float | None = None) -> int:
        """Hit blocks of all requests."""
        return int(self.hits_per_request(capacity, ttl).sum())

    def hit_tokens(self, capacity: int | None = None, ttl: float | None = None) -> int:
        """Tokens in hit full blocks.  UnsupportedTrace where tokens are not known."""
        full = np.minimum(self.hits_per_request(capacity, ttl), self.full_blocks)
        return int(full.sum()) * self.block_size

    def tail_hit_tokens(self, capacity: int | None = None, ttl: float | None = None) -> int:
        """Tokens in hit partial blocks, which ``hit_tokens`` leaves out.  UnsupportedTrace where they are not known."""
        return int(self.tail_tokens[self.hits_per_request(capacity, ttl) > self.full_blocks].sum())

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

    def curve(self, ttl: float | None = None) -> Table:
        """The whole step function: one row for each capacity at which hits rise; the last row holds to infinity.

        Columns ``capacity_blocks``, ``hit_blocks``, ``hit_tokens``, ``tail_hit_tokens``, ``block_hit_ratio``,
        ``token_hit_ratio``; those in tokens are absent where tokens are not known.
        """
        capacities, hits = self.block_curve(ttl).steps()
        columns = {"capacity_blocks": capacities, "hit_blocks": hits}
        if self.in_tokens and self._has_tails:
            columns["hit_tokens"] = self.full_block_curve(ttl).along(capacities) * self.block_size
            columns["tail_hit_tokens"] = self.tail_token_curve(ttl).along(capacities)
        elif self.in_tokens:
            columns["hit_tokens"] = hits * self.block_size
            columns["tail_hit_tokens"] = np.zeros(len(hits), np.int64)
        columns["block_hit_ratio"] = hits / max(self.trace.n_block_refs, 1)
        if self.in_tokens:
            columns["token_hit_ratio"] = columns["hit_tokens"] / max(int(self.input_tokens.sum()), 1)
        return Table(columns, {**self.provenance(), "ttl_seconds": seconds(ttl)})

    def points(
        self,
        capacities: Sequence[int | None],
        ttls: Sequence[float | None] = (None,),
        block_bytes: int | None = None,
        by: str | tuple[str, float] | None = None,
    ) -> Table:
        """Hits at each of ``capacities`` for each of ``ttls``, one row a pair; None where a cell is not known.

        ``block_bytes`` fills the column ``capacity_bytes``.  ``by`` (session, tenant, request_type, turn ..., or
        ``("window", seconds)``) makes one row for each group and pair, ratios over the sums of the group.
        Without ``by`` a pair costs O(log segments), after O(segments x log) for each of ``ttls``.
        """
        return points(self, capacities, ttls, block_bytes, by)

    def capacity_for(self, ratio: float | Fraction, of: str = "tokens", ttl: float | None = None) -> int | None:
        """The smallest capacity (blocks) whose hits are at least ``ratio`` of all ``tokens`` or ``blocks``.

        None where not even an infinite cache reaches it.  A float is meant as it is written: 0.8 is 4/5.
        """
        if of not in ("tokens", "blocks"):
            raise BadParameter(f"of: wanted tokens or blocks, found {of!r}")
        target = Fraction(str(ratio)) if isinstance(ratio, float) else Fraction(ratio)
        if not 0 <= target <= 1:
            raise BadParameter(f"ratio: wanted 0 .. 1, found {ratio!r}")
        if of == "blocks":
            return self.block_curve(ttl).smallest(_ceil(target * self.trace.n_block_refs))
        return self.full_block_curve(ttl).smallest(_ceil(target * int(self.input_tokens.sum()) / self.block_size))

    def summary(self) -> Table:
        """The smallest capacity for each tenth of all tokens (or blocks) within reach, and for the ceiling."""
        if self.in_tokens:
            of, most, total = "tokens", self.hit_tokens(), int(self.input_tokens.sum())
        else:
            of, most, total = "blocks", self.hit_blocks(), self.trace.n_block_refs
        ceiling = Fraction(most, max(total, 1))
        ratios = [Fraction(n, 10) for n in range(1, 10) if Fraction(n, 10) < ceiling] + [ceiling] * (most > 0)
        return Table(
            {
                f"{of.removesuffix('s')}_hit_ratio": [float(ratio) for ratio in ratios],
                "capacity_blocks": [self.capacity_for(ratio, of) for ratio in ratios],
            },
            self.provenance(),
        )

    def provenance(self) -> dict[str, Any]:
        """What was counted over what; ready for JSON."""
        return {
            "trace": self.trace.summary(),
            "policy": "lru",
            "method": self.method,
            "exact": self.exact,
            "hit": "resident on arrival, and so are all blocks before it in the request",
            "hits": "exact" if self.exact else LOWER_BOUND,
            "hit_tokens": "hit full blocks x block size" if self.in_tokens else NO_TOKENS,
            "tail_hit_tokens": "tokens of hit partial last blocks" if self.in_tokens else NO_TOKENS,
            "block_hit_ratio": "hit_blocks / block references",
            "token_hit_ratio": "hit_tokens / input tokens" if self.in_tokens else NO_TOKENS,
            "hitcurve": __version__,
        }

    def __len__(self) -> int:
        return self.trace.n_requests

    def __repr__(self) -> str:
        most = self.hit_blocks()
        return (
            f"<Facts: {len(self):,} requests in {len(self.start):,} segments, {self.method} level, "
            f"{'exact' if self.exact else 'a lower bound'}; "
            f"an infinite cache hits {most:,} blocks, {most / max(self.trace.n_block_refs, 1):.1%}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.summary()._repr_html_()}"

    @cached_property
    def _has_tails(self) -> bool:
        return bool(np.any(self.trace.request_blocks > self.full_blocks))

    @cached_property
    def _before_tail(self) -> np.ndarray:
        """int64 (segments,): full blocks of the request from the segment's first block on; negative behind them."""
        before = np.concatenate([[0], np.cumsum(self.length)])
        root = before[self.segment_offsets[:-1]]
        return np.repeat(self.full_blocks + root, np.diff(self.segment_offsets)) - before[:-1]


def _ceil(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)
