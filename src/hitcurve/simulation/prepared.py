"""A trace made ready for simulation: what all runs over it share, worked out once; and the frame of one run."""

from __future__ import annotations

from functools import cached_property
from threading import Lock

import numpy as np

from hitcurve.kernels import frame as places
from hitcurve.kernels.bits import new_bits
from hitcurve.kernels.distinct import count_distinct
from hitcurve.kernels.frame import NEVER, Context, Frame
from hitcurve.kernels.next_use import next_uses
from hitcurve.trace import Labels, Trace
from hitcurve.trace.derived import parents

KEPT = 4  # sets of next uses: 12 bytes a run, and at worst every reference is a run of its own
NO_NUMBERS, NO_PARENTS = np.empty(0, np.int64), np.empty(0, np.int32)
NO_RUNS = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))


class Prepared:
    """``trace``, and derived columns that do not depend on the policy.  May be shared by threads."""

    def __init__(self, trace: Trace) -> None:
        self.trace = Trace.expected(trace)
        self._next_uses: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._lock = Lock()

    @cached_property
    def distinct(self) -> np.ndarray:
        """int64 (requests,): distinct blocks of each request.  O(references) where raw ids repeat, else O(requests)."""
        trace = self.trace
        if trace.contract:
            return trace.request_blocks
        distinct = np.empty(trace.n_requests, np.int64)
        last_seen = np.full(trace.n_blocks, -1, np.int32)
        count_distinct(trace.span_offsets, trace.span_first, trace.span_length, last_seen, distinct)
        return distinct

    @cached_property
    def full_blocks(self) -> np.ndarray:
        """int64 (requests,): how many blocks are full; the partial last one, where there is one, comes after them."""
        size = self.trace.definition.block_size
        if self.trace.input_tokens is None or size is None:
            return self.trace.request_blocks
        return np.minimum(self.trace.input_tokens // size, self.trace.request_blocks)

    @cached_property
    def longest(self) -> int:
        """Positions of the longest request."""
        return int(self.trace.request_blocks.max(initial=0))

    def next_uses(self, capacity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Runs of next uses among the requests that ``capacity`` serves (``kernels/next_use.py``), made once for each
        set of them, the last few kept.  Of two capacities' sets one contains the other, so their size tells them apart.
        """
        served = self.distinct <= capacity
        with self._lock:
            n_served = int(served.sum())
            if n_served not in self._next_uses:
                if len(self._next_uses) == KEPT:
                    self._next_uses.pop(next(iter(self._next_uses)))
                t = self.trace
                self._next_uses[n_served] = next_uses(
                    t.span_offsets, t.span_first, t.span_length, served, t.request_blocks, t.n_blocks
                )
            return self._next_uses[n_served]

    def context(self, capacity: int, needs: frozenset[str]) -> Context:
        """What the policy needs to know about the requests that ``capacity`` serves.  O(requests x log)."""
        trace, n = self.trace, self.trace.n_requests
        nothing = np.zeros(n, np.int64)
        category, session, session_next, tenant, parent = NO_NUMBERS, NO_NUMBERS, NO_NUMBERS, NO_NUMBERS, NO_PARENTS
        if "category" in needs:
            kinds = nothing if trace.request_type is None else trace.request_type.codes.astype(np.int64)
            turns = nothing if trace.turn is None else trace.turn.astype(np.int64)
            category = np.unique(np.stack([kinds, turns]), axis=1, return_inverse=True)[1].reshape(n)
        if "session" in needs:
            session = _numbered(trace.session, n)
            served = np.flatnonzero((self.distinct > 0) & (self.distinct <= capacity))
            order = served[np.argsort(session[served], kind="stable")]
            follows = session[order[1:]] == session[order[:-1]]
            session_next = np.full(n, NEVER, np.int64)
            session_next[order[:-1][follows]] = order[1:][follows]
        if "tenant" in needs:
            tenant = nothing if trace.tenant is None else _numbered(trace.tenant, n)
        if "tree" in needs:
            parent = parents(trace)
        block_size = trace.definition.block_size or 0
        return Context(category, session, session_next, tenant, parent, bool(trace.contract), block_size)

    def frame(
        self,
        capacity: int,
        cost: np.ndarray,
        *,
        pin: bool = True,
        deepest_first: bool = True,
        needs: frozenset[str] = frozenset(),
        hole_log: int = 0,
        bits: bool = False,
    ) -> Frame:
        """An empty cache of ``capacity`` blocks before the first request.

        ``cost`` float64: of each position, at least of the longest request's.  ``hole_log``: rows of the log, 0 if
        holes are not wanted; any other number is raised to what the longest request may need.  ``needs``: of the
        policy.  ``bits``: residency is a bit set, for the loop on ranges.
        """
        trace = self.trace
        n, n_blocks = trace.n_requests, trace.n_blocks
        next_use = "next_use" in needs
        numbers = np.zeros(10, np.int64)
        numbers[places.CAPACITY] = capacity
        numbers[places.PIN] = pin
        numbers[places.DEEPEST_FIRST] = deepest_first
        runs = self.next_uses(capacity) if next_use else NO_RUNS
        rows = max(hole_log, (self.longest + 1) // 2) if hole_log else 0
        return Frame(
            span_offsets=trace.span_offsets,
            span_first=trace.span_first,
            span_length=trace.span_length,
            arrival_ns=trace.arrival_ns,
            blocks=trace.request_blocks,
            distinct=self.distinct,
            full_blocks=self.full_blocks,
            cost=np.trunc(cost + np.copysign(0.5, cost)).astype(np.int64),
            cost_sum=np.concatenate([[0.0], np.cumsum(cost)]),
            next_offsets=runs[0],
            next_first=runs[1],
            next_length=runs[2],
            next_use=np.full(n_blocks if next_use else 0, NEVER, np.int64),
            resident=new_bits(n_blocks) if bits else np.zeros(n_blocks, np.uint8),
            requested=np.zeros(0 if bits else n_blocks, np.uint8),
            numbers=numbers,
            context=self.context(capacity, needs),
            served=np.zeros(n, np.uint8),
            hits=np.zeros(n, np.int32),
            full_hits=np.zeros(n, np.int32),
            prefix_hits=np.zeros(n, np.int32),
            full_prefix_hits=np.zeros(n, np.int32),
            saved=np.zeros(n, np.float64),
            holes=np.zeros(n, np.int32),
            longest_hole=np.zeros(n, np.int32),
            evictions=np.zeros(n, np.int32),
            self_evictions=np.zeros(n, np.int32),
            overshoots=np.zeros(n, np.int32),
            releases=np.zeros(n, np.int32),
            hole_log=np.empty((rows, 3), np.int32),
        )


def _numbered(labels: Labels | None, n: int) -> np.ndarray:
    """int64 (n,): the codes; what has none gets numbers of its own behind them."""
    codes = np.full(n, -1, np.int64) if labels is None else labels.codes.astype(np.int64)
    unnamed = codes < 0
    codes[unnamed] = codes.max(initial=-1) + 1 + np.arange(unnamed.sum())
    return codes


def new_frame(trace: Trace, capacity: int, cost: np.ndarray, **options: bool | int | frozenset[str]) -> Frame:
    """``Prepared(trace).frame(...)``, for one run."""
    return Prepared(trace).frame(capacity, cost, **options)  # type: ignore[arg-type]
