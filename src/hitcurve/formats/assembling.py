"""From columns and spans to a Trace: block size, tail rule, order, dropped rows, and what the reader assumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hitcurve.errors import TraceError, UnsupportedTrace
from hitcurve.formats.blocks import ANY, expected, fit, tail_rule
from hitcurve.formats.columns import UNITS, Names, Problem
from hitcurve.formats.format import Keys, TraceFormat, Wish
from hitcurve.trace import Definition, Trace
from hitcurve.trace.interning import renumbered
from hitcurve.wording import and_more

# Times since 1970 in each unit lie in these ranges from 2001 to 2100: nothing else does.
EPOCHS = {unit: (978_307_200 * 10**e, 4_102_444_800 * 10**e) for unit, e in (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))}


@dataclass
class Read:
    """All that a reader found: columns in the order of the files, -1 where a row has no value."""

    format: TraceFormat
    wish: Wish
    sources: tuple[str, ...]
    unit: str
    id_scope: str
    keys: Keys
    sorts: bool
    block_size: int | None
    lines: np.ndarray
    source: np.ndarray
    numbers: dict[str, np.ndarray]
    own_blocks: np.ndarray | None
    names: dict[str, Names]
    span_offsets: np.ndarray
    span_first: np.ndarray
    span_length: np.ndarray
    interned: dict[str, Any]
    error: Callable[[int, int, Problem], TraceError]
    dropped: int
    first_dropped: list[str]
    notes: list[str]
    unordered: bool = False  # rows were never meant to stand in time order: putting them there is no finding

    def keep(self, rows: np.ndarray) -> None:
        """Leave out all other rows than these (int64, ascending)."""
        spans = self.span_offsets, self.span_first, self.span_length
        found = renumbered(rows, *spans, self.interned["raw_ids"], self.wish.identity)
        self.span_offsets, self.span_first, self.span_length = (
            found.pop(name) for name in ("span_offsets", "span_first", "span_length")
        )
        self.interned = found
        self.lines, self.source = self.lines[rows], self.source[rows]
        self.numbers = {name: column[rows] if len(column) else column for name, column in self.numbers.items()}
        self.own_blocks = None if self.own_blocks is None else self.own_blocks[rows]
        for names in self.names.values():
            names.keep(rows)

    @property
    def full_blocks(self) -> bool:
        """Whether ids are of full blocks only."""
        return self.format.json is not None and self.format.json.full_blocks


def assemble(read: Read) -> Trace:
    """The trace; TraceError where lengths and id counts contradict each other, or no row is left."""
    wish, notes = read.wish, read.notes
    rows = np.arange(len(read.lines))
    if not len(rows):
        raise _no_row(read)
    _check_units(read)
    ends = np.concatenate([[0], np.cumsum(read.span_length, dtype=np.int64)])
    n_blocks = ends[read.span_offsets[1:]] - ends[read.span_offsets[:-1]]
    counts = n_blocks if read.own_blocks is None else read.own_blocks
    tokens = read.numbers["input_tokens"] if _present(read.numbers["input_tokens"]) else None
    size = _size_in_file(read)
    rule = read.format.defaults.tail_rule
    if tokens is not None:
        size, rows = _fitting(read, tokens, counts, size)
        if size is not None:
            rule = tail_rule(tokens[rows], counts[rows], size, rule)
            if read.own_blocks is not None:
                tokens = tokens + (n_blocks - counts) * size
    elif size is None:
        size = read.format.defaults.block_size
    times = read.numbers["time"] if read.unit != "none" else np.zeros(len(read.lines), np.int64)
    late = 0
    if read.sorts:
        if wish.sort and not read.unordered:
            late = int((times[rows] < np.maximum.accumulate(times[rows])).sum()) if len(rows) else 0
        rows = rows[np.argsort(times[rows], kind="stable")]
    if wish.head is not None:
        rows = rows[: wish.head]
    spans: dict[str, Any] = {
        "span_offsets": read.span_offsets, "span_first": read.span_first, "span_length": read.span_length,
        **read.interned,
    }  # fmt: skip
    dropped_tails = False
    if wish.tail == "drop" and size is not None and tokens is not None:
        partial = (n_blocks > 0) & (n_blocks * size > tokens)
        dropped_tails = bool(partial.any())
        if dropped_tails:
            spans.update(_without_last(spans, partial))
    elif wish.tail == "drop":
        notes.append("no partial tail block was dropped: without lengths and a block size none can be told")
    if dropped_tails or not np.array_equal(rows, np.arange(len(read.lines))):
        spans = _renumbered(rows, spans, wish.identity)
    if read.dropped:
        notes.append(f"{read.dropped} bad row(s) left out, the first: " + "; ".join(read.first_dropped))
    definition = Definition(
        block_size=size,
        identity=wish.identity,
        id_kind=wish.id_kind or read.format.defaults.id_kind,
        id_scope=read.id_scope,
        tail_rule=rule,
        tail=wish.tail,
        time_unit=read.unit,
        format=read.format.name,
        sources=read.sources,
        rows_dropped=read.dropped,
        rows_sorted=late,
        notes=tuple(notes),
    )
    labels = {name: names.labels() for name, names in read.names.items()}
    spans |= {name: None if column is None else column.take(rows) for name, column in labels.items()}
    return Trace(
        arrival_ns=times[rows],
        definition=definition,
        input_tokens=None if tokens is None else tokens[rows],
        output_tokens=_column(read.numbers["output_tokens"], rows),
        completion_ns=_column(read.numbers["completion"], rows),
        turn=_column(read.numbers["turn"], rows),
        **spans,
    )


def without_partial_tails(trace: Trace) -> Trace:
    """The same requests without their partial last blocks; UnsupportedTrace without lengths or a block size."""
    size, tokens = trace.definition.block_size, trace.input_tokens
    if size is None or tokens is None:
        raise UnsupportedTrace("without lengths and a block size no partial tail block can be told")
    spans: dict[str, Any] = {name: getattr(trace, name) for name in ("span_offsets", "span_first", "span_length")}
    spans |= _without_last(spans, (trace.request_blocks > 0) & (trace.request_blocks * size > tokens))
    spans = _renumbered(np.arange(len(trace)), {**spans, "raw_ids": trace.raw_ids}, trace.definition.identity)
    return replace(trace, definition=replace(trace.definition, tail="drop"), **spans)


def _size_in_file(read: Read) -> int | None:
    """The block size that the file states; TraceError where the caller says otherwise."""
    given, stated = read.wish.block_size, read.block_size
    if given is not None and stated is not None and given != stated:
        raise TraceError(read.sources[0], field="block size", wanted=f"{stated}, as the file says", found=given)
    return stated if given is None else given


def _fitting(read: Read, tokens: np.ndarray, counts: np.ndarray, given: int | None) -> tuple[int | None, np.ndarray]:
    """The block size and the rows that fit it; TraceError where some do not, unless they are to be skipped."""
    default = read.format.defaults.block_size
    found = fit(tokens, counts, default, given, read.full_blocks)
    size = found.block_size
    bad = np.flatnonzero(found.misfits)
    if len(bad):
        reason = _misfit(int(tokens[bad[0]]), int(counts[bad[0]]), found.low, found.high, size, default, read, len(bad))
        if not read.wish.skip_bad or len(bad) == len(tokens):
            raise read.error(int(read.source[bad[0]]), int(read.lines[bad[0]]), reason)
        read.first_dropped.append(str(read.error(int(read.source[bad[0]]), int(read.lines[bad[0]]), reason)))
        read.dropped += len(bad)
    allowed = _sizes(found.low, found.high)
    if size is None:
        read.notes.append(f"block size unknown: lengths and id counts allow {allowed}; name it (--block-size)")
    elif given is None and size == default and found.low < found.high:
        read.notes.append(f"block size {size} assumed, the format's default: lengths and id counts allow {allowed}")
    elif given is None and size != default:
        why = "the only size that fits" if found.low == found.high else f"the only power of two in {allowed}"
        read.notes.append(f"block size {size} inferred from lengths and id counts: {why}")
    return size, np.flatnonzero(~found.misfits)


def _misfit(
    tokens: int, count: int, low: int, high: int, size: int | None, default: int | None, read: Read, n: int
) -> str:
    from hitcurve.formats.blocks import chosen, ranges

    alone = [int(r[0]) for r in ranges(np.array([tokens]), np.array([count]), read.full_blocks)]
    fits = f"fit block sizes {_sizes(*alone)}" if alone[0] <= alone[1] else "fit no block size"
    text = f"{read.keys.ids}: {count} ids for {tokens} tokens {fits}"
    if size is not None:
        text += f", wanted {expected(tokens, size, read.full_blocks)} at block size {size}"
    better = chosen(low, high, default)
    if better is not None and better != size:
        text += f"; block size {better} fits most rows (--block-size {better})"
    elif size is None or better == size:
        text += f"; all but {n} row(s) fit {_sizes(low, high)}"
    return text


def _sizes(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} or more" if high >= ANY else f"{low} to {high}"


def _check_units(read: Read) -> None:
    """TraceError for times since 1970 in two units; a note where the unit looks wrong."""
    if read.unit == "none":
        return
    raw = read.numbers["time"] / UNITS[read.unit]
    seen = {unit: (raw >= low) & (raw < high) for unit, (low, high) in EPOCHS.items()}
    some = [unit for unit, mask in seen.items() if mask.any()]
    if len(some) > 1 and sum(int(seen[unit].sum()) for unit in some) == len(raw):
        first = next(unit for unit in some if seen[unit][0])
        row = int(np.flatnonzero(~seen[first])[0])
        other = next(unit for unit in some if seen[unit][row])
        reason = f"{read.keys.time}: mixed units: a time in {other} since 1970 after times in {first}"
        raise read.error(int(read.source[row]), int(read.lines[row]), reason)
    if len(some) == 1 and seen[some[0]].all() and some[0] != read.unit:
        read.notes.append(
            f"times were read as {read.unit}, but look like {some[0]} since 1970: is the unit right? (--time-unit)"
        )


def _without_last(spans: dict[str, Any], rows: np.ndarray) -> dict[str, Any]:
    """The spans without the last block of the requests ``rows`` (bool)."""
    offsets, length = spans["span_offsets"], spans["span_length"].copy()
    length[offsets[1:][rows] - 1] -= 1
    kept = length > 0
    before = np.concatenate([[0], np.cumsum(kept)])
    return {"span_offsets": before[offsets], "span_first": spans["span_first"][kept], "span_length": length[kept]}


def _renumbered(rows: np.ndarray, spans: dict[str, Any], identity: str) -> dict[str, Any]:
    return renumbered(
        rows, spans["span_offsets"], spans["span_first"], spans["span_length"], spans["raw_ids"], identity
    )


def _present(column: np.ndarray) -> bool:
    return len(column) > 0 and bool((column >= 0).any())


def _column(column: np.ndarray, rows: np.ndarray) -> np.ndarray | None:
    return column[rows] if _present(column) else None


def _no_row(read: Read) -> TraceError:
    path = and_more(read.sources)
    if not read.dropped:
        return TraceError(path, reason="no usable row")
    return TraceError(path, reason=f"no usable row: all {read.dropped} are bad, the first: {read.first_dropped[0]}")
