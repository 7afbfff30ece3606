"""Reading formats made of JSON: batch by batch into columns and interned spans, then one Trace.

Memory: O(unique blocks + spans + requests) and a chunk; never O(references).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from hitcurve.errors import TraceError
from hitcurve.formats import columns
from hitcurve.formats.assembling import Read, assemble
from hitcurve.formats.batches import BadDocument, Batch, Batches
from hitcurve.formats.columns import Grown, Names, Problem
from hitcurve.formats.format import Json, TraceFormat, Wish
from hitcurve.formats.opening import Opened
from hitcurve.trace import LABEL_COLUMNS, Trace
from hitcurve.trace.interning import Interner

EXAMPLES = 3  # dropped rows that the notes quote


def read_json(format: TraceFormat, files: list[Opened], wish: Wish, notes: list[str]) -> Trace:
    """The trace in ``files``, in that order, in one numbering."""
    reader = _Reader(format, wish, [f.name for f in files], notes)
    done = 0
    total = None if any(f.size is None for f in files) else sum(f.size or 0 for f in files)
    for source, file in enumerate(files):
        if reader.full:
            break
        nested, words = reader.json.nested, reader.json.words
        batches = Batches(file, source, reader.keys.ids, nested, reader.interner.encode, words)
        one_document = nested and _is_one_document(file)
        for batch in batches.whole() if one_document else batches:
            reader.add(batch)
            if wish.progress is not None:
                wish.progress(reader.n_rows, done + file.position, total)
            if reader.full:
                break
        done += file.position
        file.close()
    read = reader.finished()
    if format.json is not None and format.json.settle is not None:
        format.json.settle(read, reader.memory)
    return assemble(read)


def _is_one_document(file: Opened) -> bool:
    """Whether the first line of the file is no whole document: then the file is one, over many lines."""
    from hitcurve.formats.batches import parsed
    from hitcurve.formats.recognising import first_line

    return isinstance(parsed(first_line(file)), BadDocument)


class _Reader:
    def __init__(self, format: TraceFormat, wish: Wish, sources: list[str], notes: list[str]) -> None:
        assert format.json is not None
        self.format, self.wish, self.sources, self.notes = format, wish, sources, notes
        self.json: Json = format.json
        self.keys = self.json.choose_keys(wish.options) if self.json.choose_keys else self.json.keys
        self.unit = wish.time_unit or format.defaults.time_unit or unit_of(self.keys.time)
        self.interner = Interner(wish.identity)
        self.interner.namespace((None, None))
        self.memory: dict[str, Any] = {"options": wish.options, "notes": notes, "sort": wish.sort, "wish": wish}
        self.memory["encode"] = self.interner.encode
        self.n_rows = 0
        self.dropped = 0
        self.first_dropped: list[str] = []
        self.has: dict[str, bool] = {}
        self.block_size: int | None = None
        self.latest = 0
        self.scopes: Counter[str] = Counter()
        self.lines, self.source = Grown(), Grown()
        self.numbers = {name: Grown() for name in ("time", "input_tokens", "output_tokens", "completion", "turn")}
        self.own_blocks = Grown()
        self.names = {name: Names() for name in LABEL_COLUMNS}
        self.span_counts, self.span_first, self.span_length = Grown(), Grown(), Grown()

    @property
    def sorts(self) -> bool:
        """Whether rows are put into time order at the end, so that their order in the file means nothing."""
        return self.wish.sort or self.json.sorts or bool(self.memory.get("sorts"))

    @property
    def full(self) -> bool:
        """Whether ``head`` rows are there."""
        return self.wish.head is not None and self.n_rows >= self.wish.head and not self.sorts

    def add(self, batch: Batch) -> None:
        """Check, collect and intern the rows of a batch, up to ``head``."""
        if self.json.prepare is not None:
            self.json.prepare(batch, self.memory)
        if self.wish.head is None or self.sorts:
            self._add(batch)
            return
        while batch.rows and not self.full:
            n = self.wish.head - self.n_rows
            self._add(batch.part(slice(n)))
            batch = batch.part(slice(n, None))

    def _add(self, batch: Batch) -> None:
        problems: dict[int, Problem] = {}
        rows = columns.objects(batch, problems)
        if not rows:
            return
        numbers = self._numbers(rows, problems)
        labels = {
            name: columns.names(rows, key, problems)
            for name in LABEL_COLUMNS
            if (key := getattr(self.keys, name)) is not None
        }
        arrays = columns.arrays(rows, self.keys.ids, problems)
        self._check_block_size(rows, problems)
        namespaces = self._namespaces(batch, labels, problems)
        if not self.sorts and self.has.get("time"):
            self._check_order(numbers["time"], problems)
        kept = self._kept(batch, problems)
        if kept is not None:
            numbers = {name: column[kept] for name, column in numbers.items()}
            labels = {name: [values[k] for k in kept] for name, values in labels.items()}
            arrays = [arrays[k] for k in kept]
            namespaces = None if namespaces is None else namespaces[kept]
        self.n_rows += len(arrays)
        for name, column in numbers.items():
            self.numbers[name].add(column)
        for name, values in labels.items():
            self.names[name].add(values)
        lines = np.array(batch.lines, np.int64)
        self.lines.add(lines if kept is None else lines[kept])
        self.source.add(np.full(len(arrays), batch.source, np.int32))
        if batch.own_blocks is not None:
            own = np.array(batch.own_blocks, np.int64)
            self.own_blocks.add(own if kept is None else own[kept])
        self._intern(batch, arrays, namespaces)

    def _numbers(self, rows: list[dict[str, Any]], problems: dict[int, Problem]) -> dict[str, np.ndarray]:
        """The number columns of a batch.  Times, lengths: all rows have them or none (told by the first batch)."""
        found: dict[str, np.ndarray] = {}
        for name in self.numbers:
            key = getattr(self.keys, name)
            if key is None:
                continue
            if name not in self.has:
                self.has[name] = any(row.get(key) is not None for row in rows)
            every = name in self.json.required or (name in ("time", "input_tokens") and self.has[name])
            if name in ("time", "completion"):
                if self.unit is None:
                    self.unit = "s"
                    if self.has[name]:
                        self.notes.append(f"times under {key!r} taken as seconds: the key names no unit (--time-unit)")
                found[name] = columns.times(rows, key, self.unit, problems, every)
            else:
                most = columns.MAX_TURN if name == "turn" else columns.MAX_LENGTH
                least = -1 if name == "turn" else 0
                found[name] = columns.whole_numbers(rows, key, problems, every, least, most)
            if name == "time" and not self.has[name]:
                for row in np.flatnonzero(found[name] >= 0).tolist():
                    problems.setdefault(row, (key, "none, since the first rows have none", rows[row][key]))
        return found

    def _check_block_size(self, rows: list[dict[str, Any]], problems: dict[int, Problem]) -> None:
        key = self.keys.block_size
        if key is None:
            return
        for k, row in enumerate(rows):
            size = row.get(key)
            if size is None:
                continue
            if type(size) is not int or not 1 <= size <= columns.MAX_LENGTH:
                problems.setdefault(k, (key, "a whole number of tokens >= 1", size))
            elif self.block_size is None:
                self.block_size = size
            elif size != self.block_size:
                problems.setdefault(k, (key, f"{self.block_size}, as in the rows before", size))

    def _namespaces(
        self, batch: Batch, labels: dict[str, list[Any]], problems: dict[int, Problem]
    ) -> np.ndarray | None:
        """int64, one a row: the root that its path starts from.  None: all rows of the batch in the nameless one."""
        tenants = labels.get("tenant")
        scopes: list[str] | None = batch.scopes
        if self.wish.id_scope is not None or scopes is None:
            scopes = [self.wish.id_scope or self.format.defaults.id_scope] * len(batch.rows)
        self.scopes.update(scopes)
        if tenants is None and set(scopes) <= {"global"}:
            return None
        places = batch.conversations if batch.conversations is not None else labels.get("session")
        column = np.zeros(len(scopes), np.int64)
        for k, scope in enumerate(scopes):
            place = None
            if scope == "conversation":
                place = places[k] if places is not None else None
                if place is None:
                    problems.setdefault(k, (self.keys.session or "session", "a name, since ids are local to it", None))
            elif scope == "file":
                place = batch.source
            column[k] = self.interner.namespace((None if tenants is None else tenants[k], place))
        return column

    def _check_order(self, times: np.ndarray, problems: dict[int, Problem]) -> None:
        good = times.copy()
        for row in problems:
            good[row] = -1
        before = np.maximum.accumulate(np.concatenate([[self.latest], good]))
        unit = columns.UNITS[self.unit or "ns"]
        for row in np.flatnonzero((times < before[:-1]) & (times >= 0)).tolist():
            wanted = f">= {before[row] / unit:g}, the time before it (or --sort)"
            problems.setdefault(row, (self.keys.time or "time", wanted, times[row].item() / unit))
        self.latest = int(before[-1])

    def _kept(self, batch: Batch, problems: dict[int, Problem]) -> np.ndarray | None:
        """The good rows of a batch (None: all); TraceError at its first bad one, unless they are to be skipped."""
        if not problems:
            return None
        for row in sorted(problems):
            error = self._error(batch.source, batch.lines[row], problems[row])
            if not self.wish.skip_bad:
                raise error
            self._drop(error)
        return np.array([k for k in range(len(batch.rows)) if k not in problems], np.int64)

    def _error(self, source: int, line: int, problem: Problem) -> TraceError:
        return columns.error_of(self.sources[source], line, problem)

    def _drop(self, error: TraceError) -> None:
        self.dropped += 1
        if len(self.first_dropped) < EXAMPLES:
            self.first_dropped.append(str(error))

    def _intern(self, batch: Batch, arrays: list[int], namespaces: np.ndarray | None) -> None:
        ids, ends = batch.ids, batch.ends
        if arrays != list(range(len(ends) - 1)):
            chosen = [batch.array(k) for k in arrays]
            ends = np.concatenate([[0], np.cumsum([len(c) for c in chosen], dtype=np.int64)])
            ids = np.concatenate(chosen) if chosen else ids[:0]
        offsets, first, length = self.interner.add(ids, ends, namespaces)
        self.span_counts.add(np.diff(offsets))
        self.span_first.add(first)
        self.span_length.add(length)

    def finished(self) -> Read:
        """Everything read, for ``assemble``."""
        scopes = {scope for scope, n in self.scopes.items() if n}
        return Read(
            format=self.format,
            wish=self.wish,
            sources=tuple(self.sources),
            unit=(self.unit or "none") if self.has.get("time") else "none",
            id_scope=scopes.pop() if len(scopes) == 1 else ("mixed" if scopes else self.format.defaults.id_scope),
            keys=self.keys,
            sorts=self.sorts,
            block_size=self.block_size,
            lines=self.lines.joined(),
            source=self.source.joined(np.int32),
            numbers={name: column.joined() for name, column in self.numbers.items()},
            own_blocks=self.own_blocks.joined() if self.memory.get("delta") else None,
            names=self.names,
            span_offsets=np.concatenate([[0], np.cumsum(self.span_counts.joined())]),
            span_first=self.span_first.joined(np.int32),
            span_length=self.span_length.joined(np.int32),
            interned=self.interner.result(),
            error=self._error,
            dropped=self.dropped,
            first_dropped=self.first_dropped,
            notes=self.notes,
            unordered=self.json.sorts or bool(self.memory.get("sorts")),
        )


def unit_of(key: str | None) -> str | None:
    """The unit that the ending of a key names.

    >>> unit_of("created_ms"), unit_of("timestamp")
    ('ms', None)
    """
    ending = (key or "").rpartition("_")[2]
    return ending if "_" in (key or "") and ending in columns.UNITS else None
