"""Trace: requests as spans of dense block ids, column by column.

A block's identity is the whole path from the root to it.  Dense ids 0, 1, 2, ... are given in order of first
appearance, so the blocks that a request introduces are consecutive, ids ascend along every path (a parent comes before
its child), and a request is a short list of spans ``(first id, length)``.  ``docs/data-model.md`` derives the rest.

A trace is validated once, when it is made, and trusted after.  All arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter, UnsupportedTrace, shown
from hitcurve.trace.columns import Labels, RawIds, read_only
from hitcurve.trace.definition import Definition

if TYPE_CHECKING:
    import pandas
    import pyarrow

MAX_BLOCKS = 2**31 - 1  # dense ids are int32: 2 G unique blocks need 16 GiB of raw ids before anything else
ROW_COLUMNS = ("completion_ns", "input_tokens", "output_tokens", "turn")
LABEL_COLUMNS = ("session", "parent_session", "request_type", "tenant", "model", "request_id")


@dataclass(frozen=True, repr=False)
class Trace:
    """Requests in replay order, one row each, and what they mean.

    Rows (arrays of shape ``(n_requests,)``; a column that the file does not have is None):

    ``arrival_ns``      int64, time of arrival in nanoseconds, never decreasing, less than 2^63 apart
    ``input_tokens``    int64, prompt length in tokens (None: unknown for all)
    ``output_tokens``   int64, -1 where unknown
    ``completion_ns``   int64, time the blocks become reusable, -1 where unknown
    ``turn``            int32, -1 where unknown
    ``session, parent_session, request_type, tenant, model, request_id``   Labels

    Spans (request i owns ``span_offsets[i]:span_offsets[i+1]``):

    ``span_offsets``    int64 (n_requests + 1,)
    ``span_first``      int32, first dense block id
    ``span_length``     int32, number of consecutive ids, >= 1; a span never continues the one before it

    And for the whole trace ``n_blocks`` (unique blocks), ``definition``, ``raw_ids`` (or None), and ``contract``: True
    where ids form a tree (always, for ``identity="prefix"``), False where one id follows different ids or itself.

    >>> t = Trace.of_requests([[7, 8, 9], [7, 8, 10], [7]], block_size=16)
    >>> t
    <Trace: 3 requests, 7 block references, 4 unique blocks, block size 16, memory>
    >>> [t.blocks(i).tolist() for i in range(3)]
    [[0, 1, 2], [0, 1, 3], [0]]
    """

    arrival_ns: np.ndarray
    span_offsets: np.ndarray
    span_first: np.ndarray
    span_length: np.ndarray
    n_blocks: int
    definition: Definition = field(default_factory=Definition)
    input_tokens: np.ndarray | None = None
    output_tokens: np.ndarray | None = None
    completion_ns: np.ndarray | None = None
    turn: np.ndarray | None = None
    session: Labels | None = None
    parent_session: Labels | None = None
    request_type: Labels | None = None
    tenant: Labels | None = None
    model: Labels | None = None
    request_id: Labels | None = None
    raw_ids: RawIds | None = None
    contract: bool = True

    def __post_init__(self) -> None:
        n = len(self.arrival_ns)
        for name, dtype in _DTYPES.items():
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, read_only(name, value, dtype))
        for name in (*ROW_COLUMNS, *LABEL_COLUMNS):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise BadParameter(f"{name}: wanted {n} rows, found {len(value)}")
        if n and int(self.arrival_ns[-1]) - int(self.arrival_ns[0]) >= 2**63:
            raise BadParameter("arrival_ns: wanted times less than 2^63 ns (292 years) apart, found others")
        if n and np.any(np.diff(self.arrival_ns) < 0):
            row = int(np.flatnonzero(np.diff(self.arrival_ns) < 0)[0]) + 1
            raise BadParameter(f"arrival_ns: wanted never decreasing, found a step back at row {row}")
        offsets, first, length = self.span_offsets, self.span_first, self.span_length
        if len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != len(first) or np.any(np.diff(offsets) < 0):
            raise BadParameter(f"span_offsets: wanted {n + 1} never decreasing values from 0 to {len(first)}")
        if len(first) != len(length):
            raise BadParameter(f"span_length: wanted {len(first)} values, found {len(length)}")
        if len(first) and (
            length.min() < 1 or first.min() < 0 or np.max(first.astype(np.int64) + length) > self.n_blocks
        ):
            raise BadParameter(f"spans: wanted lengths >= 1 within blocks 0 .. {self.n_blocks - 1}")
        seen = self._seen
        if seen[-1] != self.n_blocks or np.any(first > seen[:-1]):
            raise BadParameter("spans: wanted blocks numbered in order of first appearance, found others")
        if self.raw_ids is not None and len(self.raw_ids.codes) != self.n_blocks:
            raise BadParameter(f"raw_ids: wanted {self.n_blocks} values, found {len(self.raw_ids.codes)}")
        continues = first[1:] == first[:-1] + length[:-1]
        borders = offsets[(offsets > 0) & (offsets < len(first))]
        continues[borders - 1] = False
        if continues.any():
            row = int(np.searchsorted(offsets, np.argmax(continues) + 1, side="right")) - 1
            raise BadParameter(f"spans: wanted the longest possible, found one that continues another at row {row}")
        if self.definition.block_size is not None and self.definition.block_size < 1:
            raise BadParameter(f"block_size: wanted >= 1, found {self.definition.block_size}")

    @classmethod
    def of_requests(
        cls,
        requests: Sequence[Sequence[Any]],
        *,
        times: Sequence[float] | None = None,
        block_size: int | None = None,
        identity: str = "prefix",
        **columns: Any,
    ) -> Trace:
        """From lists of raw ids (int, str, bytes; any size), with arrival ``times`` in seconds (default 0, 1, 2, ...).

        ``columns``: any row column of Trace.  O(references).
        """
        from hitcurve.trace.interning import Interner

        interner = Interner(identity=identity)
        offsets, first, length = interner.add_lists(requests)
        seconds = range(len(requests)) if times is None else times
        return cls(
            arrival_ns=np.array([round(t * 1_000_000_000) for t in seconds], np.int64),
            span_offsets=offsets,
            span_first=first,
            span_length=length,
            definition=Definition(block_size=block_size, identity=identity, time_unit="s"),
            **interner.result(),
            **columns,
        )

    @staticmethod
    def expected(value: Any) -> Trace:
        """``value`` where it is a Trace; BadParameter, with the way to get one, where it is not.

        >>> Trace.expected("trace.jsonl")
        Traceback (most recent call last):
        hitcurve.errors.BadParameter: trace: wanted a Trace, as read_trace(path) gives it, found 'trace.jsonl'
        """
        if not isinstance(value, Trace):
            raise BadParameter(f"trace: wanted a Trace, as read_trace(path) gives it, found {shown(value)}")
        return value

    @property
    def n_requests(self) -> int:
        return len(self.arrival_ns)

    @cached_property
    def n_block_refs(self) -> int:
        """Block references: positions of all requests together."""
        return int(self.span_length.sum(dtype=np.int64))

    @cached_property
    def request_blocks(self) -> np.ndarray:
        """int64 (n_requests,): number of blocks of each request."""
        ends = np.concatenate([[0], np.cumsum(self.span_length, dtype=np.int64)])
        return ends[self.span_offsets[1:]] - ends[self.span_offsets[:-1]]

    @property
    def _seen(self) -> np.ndarray:
        """int64 (spans + 1,): number of blocks that occur before each span, and at last all."""
        seen = np.zeros(len(self.span_first) + 1, np.int64)
        np.add(self.span_first, self.span_length, out=seen[1:], dtype=np.int64)
        return np.maximum.accumulate(seen, out=seen)

    @cached_property
    def new_block_offsets(self) -> np.ndarray:
        """int64 (n_requests + 1,): request i is the first to hold blocks ``[i] .. [i + 1] - 1``."""
        return self._seen[self.span_offsets]

    @property
    def n_input_tokens(self) -> int | None:
        """Sum of the prompt lengths, or None where the trace has none."""
        return None if self.input_tokens is None else int(self.input_tokens.sum())

    def spans(self, request: int) -> Iterator[tuple[int, int]]:
        """(first id, length) of one request, from the root."""
        for s in range(self.span_offsets[request], self.span_offsets[request + 1]):
            yield int(self.span_first[s]), int(self.span_length[s])

    def blocks(self, request: int) -> np.ndarray:
        """int64: the dense ids of one request, from the root.  O(blocks of the request)."""
        runs = [np.arange(first, first + length) for first, length in self.spans(request)]
        return np.concatenate(runs) if runs else np.empty(0, np.int64)

    def labels(self, column: str) -> Labels:
        """The label column of that name; UnsupportedTrace where this trace has none."""
        value = getattr(self, column)
        if value is None:
            raise UnsupportedTrace(f"this trace has no {column.replace('_', ' ')} column")
        return value

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table, one row a request; ``hitcurve.trace.arrow`` says what stands in it."""
        from hitcurve.trace.arrow import to_arrow

        return to_arrow(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A DataFrame, one row a request: its columns, and the number of its blocks; the summary in ``attrs``."""
        import pandas

        columns: dict[str, Any] = {"arrival_ns": self.arrival_ns}
        for name in ROW_COLUMNS:
            values = getattr(self, name)
            if values is not None:
                columns[name] = pandas.array(values, dtype=pandas.Int64Dtype())
                columns[name][values == -1] = pandas.NA
        for name in LABEL_COLUMNS:
            labels = getattr(self, name)
            if labels is not None:
                columns[name] = pandas.Categorical.from_codes(labels.codes, labels.names)
        frame = pandas.DataFrame({**columns, "blocks": self.request_blocks})
        frame.attrs["hitcurve"] = self.summary()
        return frame

    def summary(self) -> dict[str, Any]:
        """Counts and definition, as every output shows them under ``trace``."""
        return {
            "requests": self.n_requests,
            "block_refs": self.n_block_refs,
            "unique_blocks": self.n_blocks,
            "input_tokens": self.n_input_tokens,
            "first_arrival_ns": int(self.arrival_ns[0]) if self.n_requests else None,
            "last_arrival_ns": int(self.arrival_ns[-1]) if self.n_requests else None,
            "contract": self.contract,
            **self.definition.as_dict(),
        }

    def with_definition(self, **changes: Any) -> Trace:
        """The same requests under a changed definition."""
        return replace(self, definition=replace(self.definition, **changes))

    def __len__(self) -> int:
        return self.n_requests

    def __repr__(self) -> str:
        size = self.definition.block_size
        return (
            f"<Trace: {self.n_requests:,} requests, {self.n_block_refs:,} block references, {self.n_blocks:,} unique "
            f"blocks, block size {size if size is not None else 'unknown'}, {self.definition.format}>"
        )

    def _repr_html_(self) -> str:
        rows = (
            f"<tr><th>{escape(name)}</th><td>{escape(_shown(value))}</td></tr>"
            for name, value in self.summary().items()
        )
        return f"<table>{''.join(rows)}</table>"


_DTYPES = {
    "arrival_ns": np.int64,
    "span_offsets": np.int64,
    "span_first": np.int32,
    "span_length": np.int32,
    "input_tokens": np.int64,
    "output_tokens": np.int64,
    "completion_ns": np.int64,
    "turn": np.int32,
}


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(str, value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "unknown" if value is None else str(value)
