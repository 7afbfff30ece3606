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
from hitcurve.lru.projection import INFINITE, HitCurve, alive, blocks_of, hits_per_request, ttl_in_ns, whole_blocks
from hitcurve.table import Table
from hitcurve.trace import Trace
from hitcurve.trace.grouping import Groups, groups

LOWER_BOUND = (
    "lower bound at finite capacities: one id stands after different ids, or twice in one request; "
    "exact at infinite capacity"
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

    @cached_property
    def in_tokens(self) -> bool:
        """Whether hits can be told in tokens: the block size is known, and the input tokens of every request."""
        tokens = self.trace.input_tokens
        return self.trace.definition.block_size is not None and tokens is not None and int(tokens.min(initial=0)) >= 0

    @cached_property
    def full_blocks(self) -> np.ndarray:
        """int64 (requests,): blocks of each request that its input tokens fill."""
        return self._tokens() // self._block_size()

    @cached_property
    def tail_tokens(self) -> np.ndarray:
        """int64 (requests,): tokens of each request in the partial block after them, where its ids include one."""
        return np.where(self.trace.request_blocks > self.full_blocks, self._tokens() % self._block_size(), 0)

    @cached_property
    def _all_full(self) -> bool:
        return not np.any(self.trace.request_blocks > self.full_blocks)

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
        return int(full.sum()) * self._block_size()

    def tail_hit_tokens(self, capacity: int | None = None, ttl: float | None = None) -> int:
        """Tokens in hit partial blocks, which ``hit_tokens`` leaves out.  UnsupportedTrace where they are not known."""
        return int(self.tail_tokens[self.hits_per_request(capacity, ttl) > self.full_blocks].sum())

    def block_curve(self, ttl: float | None = None) -> HitCurve:
        """Hit blocks at every capacity."""
        kept = self._alive(ttl)
        return HitCurve.of(self.start[kept], self.length[kept])

    def full_block_curve(self, ttl: float | None = None) -> HitCurve:
        """Hit full blocks at every capacity; times the block size they are ``hit_tokens``."""
        if self._all_full:
            return self.block_curve(ttl)
        room = np.clip(self._rows(self.full_blocks) - self._depth, 0, self.length)
        kept = self._alive(ttl) & (room > 0)
        return HitCurve.of(self.start[kept], room[kept])

    def tail_token_curve(self, ttl: float | None = None) -> HitCurve:
        """``tail_hit_tokens`` at every capacity."""
        into = self._rows(self.full_blocks) - self._depth  # where in its segment the partial block would stand
        tokens = self._rows(self.tail_tokens)
        kept = self._alive(ttl) & (into >= 0) & (into < self.length) & (tokens > 0)
        return HitCurve.of((self.start + into)[kept], np.ones(kept.sum(), np.int64), tokens[kept])

    def curve(self, ttl: float | None = None) -> Table:
        """The whole step function: one row for each capacity at which hits rise; the last row holds to infinity.

        Columns ``capacity_blocks``, ``hit_blocks``, ``hit_tokens``, ``tail_hit_tokens``, ``block_hit_ratio``,
        ``token_hit_ratio``; those in tokens are absent where tokens are not known.
        """
        blocks = self.block_curve(ttl)
        capacities, hits = blocks.steps()
        columns = {"capacity_blocks": capacities, "hit_blocks": hits}
        if self.in_tokens:
            full = hits if self._all_full else self.full_block_curve(ttl).along(capacities)
            columns["hit_tokens"] = full * self._block_size()
            tails = np.zeros(len(hits), np.int64) if self._all_full else self.tail_token_curve(ttl).along(capacities)
            columns["tail_hit_tokens"] = tails
        columns["block_hit_ratio"] = hits / max(self.trace.n_block_refs, 1)
        if self.in_tokens:
            columns["token_hit_ratio"] = columns["hit_tokens"] / max(int(self._tokens().sum()), 1)
        return Table(columns, {**self._provenance(), "ttl_seconds": _json(ttl)})

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
        Without ``by`` a pair costs O(log segments) after O(segments x log) for each of ``ttls``.
        """
        limits = [blocks_of(c) for c in capacities]
        grouped = None if by is None else groups(self.trace, *((by,) if isinstance(by, str) else by))
        rows: list[dict[str, Any]] = []
        for ttl in ttls:
            if grouped is None:
                found = self._totals(np.array(limits, np.int64), ttl)
            for i, blocks in enumerate(limits):
                infinite = blocks == INFINITE
                point = {
                    "capacity_blocks": None if infinite else blocks,
                    "capacity_bytes": None if infinite or not block_bytes else blocks * block_bytes,
                    "ttl_seconds": _json(ttl),
                }
                if grouped is None:
                    rows.append({**point, **self._counts(*(None if c is None else int(c[i]) for c in found))})
                else:
                    rows.extend(self._group_rows(grouped, point, None if infinite else blocks, ttl))
        names = list(rows[0]) if rows else [grouped.column] if grouped else []
        return Table(
            {name: [row[name] for row in rows] for name in names}, {**self._provenance(), "block_bytes": block_bytes}
        )

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
        tokens = target * int(self._tokens().sum())
        return self.full_block_curve(ttl).smallest(_ceil(tokens / self._block_size()))

    def summary(self) -> Table:
        """The smallest capacity for each tenth of all tokens (or blocks) within reach, and for the ceiling."""
        of = "tokens" if self.in_tokens else "blocks"
        curve = self.full_block_curve() if self.in_tokens else self.block_curve()
        most = Fraction(curve.most * (self._block_size() if self.in_tokens else 1), max(self._total(of), 1))
        targets = [Fraction(n, 10) for n in range(1, 10) if Fraction(n, 10) < most]
        reached = [*targets, most] if most else []
        return Table(
            {
                f"{of.removesuffix('s')}_hit_ratio": [float(t) for t in reached],
                "capacity_blocks": [self.capacity_for(t, of) for t in reached],
            },
            self._provenance(),
        )

    def __len__(self) -> int:
        return self.trace.n_requests

    def __repr__(self) -> str:
        most = self.block_curve().most
        share = f"{most / max(self.trace.n_block_refs, 1):.1%}"
        return (
            f"<Facts: {len(self):,} requests in {len(self.start):,} segments, {self.method} level, "
            f"{'exact' if self.exact else 'a lower bound'}; an infinite cache hits {most:,} blocks, {share}>"
        )

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.summary()._repr_html_()}"

    def _totals(self, limits: np.ndarray, ttl: float | None) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        """Hit blocks, full hit blocks and tail tokens at each of ``limits``."""
        blocks = self.block_curve(ttl).at(limits)
        if not self.in_tokens:
            return blocks, None, None
        return blocks, self.full_block_curve(ttl).at(limits), self.tail_token_curve(ttl).at(limits)

    def _group_rows(self, grouped: Groups, point: dict[str, Any], blocks: int | None, ttl: float | None) -> list[Any]:
        hits = self.hits_per_request(blocks, ttl)
        of_requests = [np.ones(len(hits), np.int64), self.trace.request_blocks, hits]
        if self.in_tokens:
            tails = np.where(hits > self.full_blocks, self.tail_tokens, 0)
            of_requests += [self._tokens(), np.minimum(hits, self.full_blocks), tails]
        rows = []
        for value, *sums in zip(grouped.values, *(grouped.sums(each).tolist() for each in of_requests), strict=True):
            requests, refs, blocks_hit, tokens, full, tails = (*sums, None, None, None)[:6]
            sizes = {"requests": requests, "block_refs": refs, "input_tokens": tokens}
            rows.append(
                {grouped.column: value, **point, **sizes, **self._counts(blocks_hit, full, tails, refs, tokens)}
            )
        return rows

    def _counts(
        self, blocks: int, full: int | None, tails: int | None, refs: int | None = None, tokens: int | None = None
    ) -> dict[str, Any]:
        """The cells that say what hit, over all references and tokens unless told otherwise."""
        refs = self.trace.n_block_refs if refs is None else refs
        counts: dict[str, Any] = {"hit_blocks": blocks, "hit_tokens": None, "tail_hit_tokens": tails}
        counts["block_hit_ratio"] = blocks / max(refs, 1)
        counts["token_hit_ratio"] = None
        if full is not None:
            counts["hit_tokens"] = full * self._block_size()
            total = int(self._tokens().sum()) if tokens is None else tokens
            counts["token_hit_ratio"] = counts["hit_tokens"] / max(total, 1)
        return counts

    def _total(self, of: str) -> int:
        return int(self._tokens().sum()) if of == "tokens" else self.trace.n_block_refs

    @cached_property
    def _depth(self) -> np.ndarray:
        """int64 (segments,): blocks of the request before each segment."""
        before = np.cumsum(self.length) - self.length
        return before - np.repeat(
            np.append(before, 0)[self.segment_offsets[:-1]] if len(before) else np.zeros(len(self), np.int64),
            np.diff(self.segment_offsets),
        )

    def _rows(self, values: np.ndarray) -> np.ndarray:
        """Of one value a request, one a segment."""
        return np.repeat(values, np.diff(self.segment_offsets))

    def _alive(self, ttl: float | None) -> np.ndarray:
        limit = ttl_in_ns(ttl)
        if limit == INFINITE:
            return np.ones(len(self.start), bool)
        return alive(self.segment_offsets, self.age_ns, limit)

    def _tokens(self) -> np.ndarray:
        if not self.in_tokens:
            raise UnsupportedTrace(f"hits in tokens are {NO_TOKENS}")
        return self.trace.input_tokens  # type: ignore[return-value]

    def _block_size(self) -> int:
        if not self.in_tokens:
            raise UnsupportedTrace(f"hits in tokens are {NO_TOKENS}")
        return self.trace.definition.block_size  # type: ignore[return-value]

    def _provenance(self) -> dict[str, Any]:
        return {
            "trace": self.trace.summary(),
            "policy": "lru",
            "method": self.method,
            "exact": self.exact,
            "hit": "resident on arrival, and so are all blocks before it in the request" if self.exact else LOWER_BOUND,
            "block_hit_ratio": "hit_blocks / block references",
            "token_hit_ratio": "hit_tokens / input tokens" if self.in_tokens else NO_TOKENS,
            "hit_tokens": "hit full blocks x block size" if self.in_tokens else NO_TOKENS,
            "tail_hit_tokens": "tokens of hit partial last blocks" if self.in_tokens else NO_TOKENS,
            "hitcurve": __version__,
        }


def _ceil(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)


def _json(ttl: float | None) -> float | int | None:
    """Seconds as a plain number, None for no limit."""
    if ttl_in_ns(ttl) == INFINITE:
        return None
    return int(ttl) if ttl == int(ttl) else float(ttl)  # type: ignore[arg-type]
