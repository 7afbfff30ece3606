"""Trace: requests as spans of dense block ids, column by column.

A block's identity is the whole path from the root to it.  Dense ids 0, 1, 2, ... are given in order of first
appearance, so the blocks that a request introduces are consecutive, ids ascend along every path (a parent comes before
its child), and a request is a short list of spans ``(first id, length)``.  ``docs/data-model.md`` derives the rest.

A trace is validated once, when it is made, and trusted after.  All arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter, UnsupportedTrace, shown

if TYPE_CHECKING:
    import pandas
    import pyarrow

MAX_BLOCKS = 2**31 - 1  # dense ids are int32: 2 G unique blocks need 16 GiB of raw ids before anything else


@dataclass(frozen=True)
class Definition:
    """What the numbers of a trace mean: how it was read, and what counts as a block.  Shown in every output.

    ``block_size``     tokens in a full block, or None where nobody said (then nothing is reported in tokens)
    ``identity``       ``prefix``: a block is its whole path; ``raw``: the id as written, whatever stands before it
    ``id_kind``        what the ids in the file mean: ``prefix`` (chained), ``block`` (content), ``raw`` (unknown)
    ``id_scope``       where an id means the same: ``global`` (everywhere), ``conversation``, ``file`` ...
    ``tail_rule``      a partial last block has an id in the file: ``ceil`` (always), ``floor`` (never), ``mixed``
    ``tail``           what was done with a partial last block: ``keep`` or ``drop``
    ``time_unit``      unit of the times in the file: ``s``, ``ms``, ``us``, ``ns``, or ``none`` where it has no times
    ``format``         name of the format it was read with
    ``sources``        where it came from: file names, or the generator's call
    ``rows_dropped``   rows left out under ``skip_bad``
    ``rows_sorted``    rows that stood behind a later one in the file, and were put into time order under ``sort``
    ``notes``          plain sentences on what the reader had to assume
    """

    block_size: int | None = None
    identity: str = "prefix"
    id_kind: str = "prefix"
    id_scope: str = "global"
    tail_rule: str = "floor"
    tail: str = "keep"
    time_unit: str = "ns"
    format: str = "memory"
    sources: tuple[str, ...] = ()
    rows_dropped: int = 0
    rows_sorted: int = 0
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Field names and values, ready for JSON."""
        return {f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v for f in fields(self)}

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> Definition:
        """The inverse of ``as_dict``; KeyError where a field is missing."""
        given: dict[str, Any] = {f.name: values[f.name] for f in fields(cls)}
        given.update({name: tuple(value) for name, value in given.items() if isinstance(value, list)})
        return cls(**given)


@dataclass(frozen=True)
class Labels:
    """A column of names, each row an index into ``names``; -1 where the row has none.

    ``codes`` int32 (rows,), ``names`` a tuple of distinct strings.
    """

    codes: np.ndarray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", _column("codes", self.codes, np.int32))
        if len(self.codes) and (self.codes.min() < -1 or self.codes.max() >= len(self.names)):
            raise BadParameter(f"label codes must lie in -1 .. {len(self.names) - 1}")

    @classmethod
    def of(cls, values: Sequence[str | None]) -> Labels | None:
        """From one name (or None) a row; None if no row has a name.  Names are numbered in order of appearance."""
        known: dict[str, int] = {}
        codes = np.fromiter(
            (-1 if v is None else known.setdefault(v, len(known)) for v in values), np.int32, len(values)
        )
        return cls(codes, tuple(known)) if known else None

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> str | None:
        code = self.codes[row]
        return None if code < 0 else self.names[code]

    def take(self, rows: np.ndarray | slice) -> Labels:
        """A selection of rows, its names numbered in order of appearance."""
        codes = self.codes[rows]
        known = np.maximum.accumulate(np.concatenate([np.array([-1], np.int32), codes]))
        if known[-1] == len(self.names) - 1 and np.all(codes <= known[:-1] + 1):
            return Labels(codes, self.names)  # they are
        used, first, codes = np.unique(codes, return_index=True, return_inverse=True)
        named = used >= 0
        order = np.argsort(first[named], kind="stable")
        place = np.full(len(used), -1, np.int32)
        place[np.flatnonzero(named)[order]] = np.arange(len(order))
        return Labels(place[codes], tuple(self.names[code] for code in used[named][order]))


@dataclass(frozen=True)
class RawIds:
    """The id that the file gave each unique block: ``codes`` int64 (n_blocks,), and the ids that are no plain int64.

    A code in ``others`` stands for that id (str, bytes, or int beyond 64 bits); every other code is the id itself.
    """

    codes: np.ndarray
    others: dict[int, str | bytes | int] = field(default_factory=dict)

    def __getitem__(self, block: int) -> str | bytes | int:
        code = int(self.codes[block])
        return self.others.get(code, code)

    @cached_property
    def first_others(self) -> np.ndarray:
        """int64, ascending: for each code in ``others`` that a block has, the first such block."""
        if not self.others:
            return np.empty(0, np.int64)
        blocks = np.flatnonzero(np.isin(self.codes, np.fromiter(self.others, np.int64, len(self.others))))
        return np.sort(blocks[np.unique(self.codes[blocks], return_index=True)[1]])


ROW_COLUMNS = ("completion_ns", "input_tokens", "output_tokens", "turn")
LABEL_COLUMNS = ("session", "parent_session", "request_type", "tenant", "model", "request_id")


@dataclass(frozen=True, repr=False)
class Trace:
    """Requests in replay order, one row each, and what they mean.

    Rows (arrays of shape ``(n_requests,)``; a column that the file does not have is None):

    ``arrival_ns``      int64, time of arrival in nanoseconds, never decreasing
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
    definition: Definition = Definition()
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
                object.__setattr__(self, name, _column(name, value, dtype))
        for name in (*ROW_COLUMNS, *LABEL_COLUMNS):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise BadParameter(f"{name}: wanted {n} rows, found {len(value)}")
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


def _column(name: str, value: Any, dtype: Any) -> np.ndarray:
    """``value`` as a read-only contiguous vector of ``dtype``; no value may change on the way."""
    given = np.asarray(value)
    with np.errstate(invalid="ignore"):  # NaN: compared below
        array = np.ascontiguousarray(given, dtype)
    if array.ndim != 1:
        raise BadParameter(f"{name}: wanted one dimension, found {array.ndim}")
    if array is not given and given.dtype != array.dtype and not np.array_equal(array, given):
        raise BadParameter(f"{name}: wanted values of {np.dtype(dtype).name}, found others")
    array = array.view()
    array.flags.writeable = False
    return array
