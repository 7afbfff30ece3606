"""Hits: what the facts of a replay answer, whatever the model: blocks and tokens at any capacity and time to live."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from hitcurve._version import __version__
from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.lru.points import points, seconds
from hitcurve.table import Table
from hitcurve.trace import Trace

LOWER_BOUND = (
    "a lower bound at finite capacities, exact at infinite capacity: one id stands after different ids, "
    "or twice in one request"
)
NO_TOKENS = "not known: needs the block size, and the input tokens of every request"


class Curve(Protocol):
    """Hits at every capacity, a step function."""

    @property
    def most(self) -> int:
        """Hits at infinite capacity."""

    def at(self, capacities: np.ndarray) -> np.ndarray:
        """Hits at each of these capacities (int64 >= 0, any order)."""

    def along(self, capacities: np.ndarray) -> np.ndarray:
        """``at`` for ascending capacities."""

    def steps(self) -> tuple[np.ndarray, np.ndarray]:
        """Every capacity at which hits rise, ascending, and the hits from there on; both int64."""

    def smallest(self, hits: int) -> int | None:
        """The smallest capacity with at least so many hits; None where there is none."""


class Hits(ABC):
    """The questions that all facts answer.

    Capacities are in the unit that ``axis`` names (None: infinite), times to live seconds (None: no limit; what is
    cached is alive while its age is less).
    """

    axis: ClassVar[str]  # the column of capacities: capacity_blocks or capacity_bytes
    hit: ClassVar[str] = (
        "a block that is resident when its request arrives, and so are all blocks before it in the request"
    )
    trace: Trace
    method: str  # run or block: the level of the replay
    exact: bool  # False: a lower bound at finite capacities

    @abstractmethod
    def hits_per_request(self, capacity: int | None = None, ttl: float | None = None) -> np.ndarray:
        """int64 (requests,): hit blocks of each request."""

    @abstractmethod
    def block_curve(self, ttl: float | None = None) -> Curve:
        """Hit blocks at every capacity."""

    @abstractmethod
    def full_block_curve(self, ttl: float | None = None) -> Curve:
        """Hit full blocks at every capacity; times the block size they are ``hit_tokens``."""

    @abstractmethod
    def tail_token_curve(self, ttl: float | None = None) -> Curve:
        """``tail_hit_tokens`` at every capacity."""

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

    def curve(self, ttl: float | None = None) -> Table:
        """The whole step function: one row for each capacity at which hits rise; the last row holds to infinity.

        Columns ``axis``, ``hit_blocks``, ``hit_tokens``, ``tail_hit_tokens``, ``block_hit_ratio``,
        ``token_hit_ratio``; those in tokens are absent where tokens are not known.
        """
        capacities, hits = self.block_curve(ttl).steps()
        columns = {self.axis: capacities, "hit_blocks": hits}
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

        ``block_bytes`` fills the column ``capacity_bytes`` where capacities are blocks.  ``by`` (session, tenant,
        request_type, turn ..., or ``("window", seconds)``) makes one row for each group and pair, ratios over the sums
        of the group.  Without ``by`` a pair costs O(log facts), after O(facts x log) for each of ``ttls``.
        """
        return points(self, capacities, ttls, block_bytes, by)

    def capacity_for(self, ratio: float | Fraction, of: str = "tokens", ttl: float | None = None) -> int | None:
        """The smallest capacity whose hits are at least ``ratio`` of all ``tokens`` or ``blocks``.

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
                self.axis: [self.capacity_for(ratio, of) for ratio in ratios],
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
            "hit": self.hit,
            "hits": "exact" if self.exact else LOWER_BOUND,
            "hit_tokens": "hit full blocks x block size" if self.in_tokens else NO_TOKENS,
            "tail_hit_tokens": "tokens of hit partial last blocks" if self.in_tokens else NO_TOKENS,
            "block_hit_ratio": "hit_blocks / block references",
            "token_hit_ratio": "hit_tokens / input tokens" if self.in_tokens else NO_TOKENS,
            "hitcurve": __version__,
        }

    def __len__(self) -> int:
        return self.trace.n_requests

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(repr(self))}</p>{self.summary()._repr_html_()}"

    @cached_property
    def _has_tails(self) -> bool:
        return bool(np.any(self.trace.request_blocks > self.full_blocks))


def _ceil(number: Fraction) -> int:
    return -(-number.numerator // number.denominator)
