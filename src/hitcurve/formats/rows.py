"""Rows of binary formats: collected one by one, interned in batches, assembled as rows of JSON formats are."""

from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve.errors import BadParameter, TraceError
from hitcurve.formats.assembling import Read, assemble
from hitcurve.formats.columns import Grown, Names, Problem
from hitcurve.formats.format import Keys, TraceFormat, Wish
from hitcurve.formats.opening import Opened
from hitcurve.trace import LABEL_COLUMNS, Trace
from hitcurve.trace.interning import WINDOW_END, Interner

BATCH = 1 << 18  # block references interned at once
NUMBERS = ("time", "input_tokens", "output_tokens", "completion", "turn")


class Rows:
    """Collects the rows of ``files`` under ``wish``.  Memory: O(unique blocks + spans + requests) and a batch."""

    def __init__(self, format: TraceFormat, files: list[Opened], wish: Wish) -> None:
        self.format, self.wish, self.files = format, wish, files
        self.n_rows = 0
        self.notes: list[str] = []
        self._interner = Interner(wish.identity)
        self._size: int | None = None
        self._waiting: list[np.ndarray] = []
        self._n_waiting = 0
        self._values: dict[str, list[int]] = {name: [] for name in (*NUMBERS, "line", "source")}
        self._labels: dict[str, list[Any]] = {name: [] for name in LABEL_COLUMNS}
        self._counts, self._first, self._length = Grown(), Grown(), Grown()

    @property
    def full(self) -> bool:
        """Whether ``head`` rows are there."""
        return self.wish.head is not None and self.n_rows >= self.wish.head and not self.wish.sort

    def block_size(self, source: int, size: int | None) -> None:
        """What a file says; all files of a trace must say the same."""
        if source and size != self._size:
            name = self.files[source].name
            raise TraceError(name, field="block size", wanted=f"{self._size}, as in the files before", found=size)
        self._size = size

    def add(self, source: int, row: int, ids: np.ndarray, **values: Any) -> None:
        """One request: ``ids`` uint64 or int64, times in nanoseconds; columns that are not named are unknown."""
        for name in NUMBERS:
            self._values[name].append(values.get(name, -1))
        self._values["line"].append(row + 1)
        self._values["source"].append(source)
        for name in LABEL_COLUMNS:
            self._labels[name].append(values.get(name))
        self._waiting.append(ids)
        self._n_waiting += len(ids)
        self.n_rows += 1
        if self._n_waiting >= BATCH:
            self._intern()

    def add_single_blocks(self, source: int, ids: np.ndarray, times: np.ndarray) -> None:
        """Many requests of one block each."""
        start = self.n_rows
        n = len(ids)
        self.n_rows += n
        for name in NUMBERS:
            self._values[name] += times.tolist() if name == "time" else [-1] * n
        self._values["line"] += range(start + 1, start + n + 1)
        self._values["source"] += [source] * n
        self._waiting.append(ids)
        self._intern(np.arange(n + 1))

    def _intern(self, offsets: np.ndarray | None = None) -> None:
        ids = np.concatenate(self._waiting) if self._waiting else np.empty(0, np.int64)
        if offsets is None:
            offsets = np.concatenate([[0], np.cumsum([len(part) for part in self._waiting], dtype=np.int64)])
        codes = ids.astype(np.int64)
        if len(ids) and (ids.max() >= 2**63 or codes.min() < WINDOW_END):
            codes = np.array([self._interner.encode(raw) for raw in ids.tolist()], np.int64)
        ends, first, length = self._interner.add(codes, offsets)
        self._counts.add(np.diff(ends))
        self._first.add(first)
        self._length.add(length)
        self._waiting, self._n_waiting = [], 0
        if self.wish.progress is not None:
            done = sum(file.position for file in self.files)
            sizes = [file.size for file in self.files]
            self.wish.progress(self.n_rows, done, None if None in sizes else sum(s for s in sizes if s is not None))

    def trace(self) -> Trace:
        """The trace of all rows; TraceError where there is none, or times step back."""
        self._intern()
        numbers = {name: np.array(self._values[name], np.int64) for name in NUMBERS}
        source, line = np.array(self._values["source"], np.int32), np.array(self._values["line"], np.int64)
        self._settle_times(numbers, source, line)
        names = {name: Names() for name in LABEL_COLUMNS}
        for name in LABEL_COLUMNS:
            names[name].add(self._labels[name] if self._labels[name] else [None] * self.n_rows)
        wish = self.wish
        if wish.time_unit not in (None, self.format.defaults.time_unit):
            raise BadParameter(f"the times of {self.format.name} files are in {self.format.defaults.time_unit}")
        return assemble(
            Read(
                format=self.format,
                wish=wish,
                sources=tuple(file.name for file in self.files),
                unit=self.format.defaults.time_unit or "ns",
                id_scope=wish.id_scope or self.format.defaults.id_scope,
                keys=Keys(ids="block_id", time="time", input_tokens="input_length"),
                sorts=wish.sort,
                block_size=self._size,
                lines=line,
                source=source,
                numbers=numbers,
                own_blocks=None,
                names=names,
                span_offsets=np.concatenate([[0], np.cumsum(self._counts.joined())]),
                span_first=self._first.joined(np.int32),
                span_length=self._length.joined(np.int32),
                interned=self._interner.result(),
                error=self._error,
                dropped=0,
                first_dropped=[],
                notes=self.notes,
            )
        )

    def _settle_times(self, numbers: dict[str, np.ndarray], source: np.ndarray, line: np.ndarray) -> None:
        """Replay follows the file.  Where arrivals step back and completions do not, a request's time is completion."""
        times, completed = numbers["time"], numbers["completion"]
        if self.wish.sort or not _step_back(times):
            return
        if (completed >= 0).all() and not _step_back(completed):
            numbers["time"] = completed.copy()
            self.notes.append("requests stand in the order of their completion, which is taken as their time")
            return
        row = int(np.flatnonzero(np.diff(times) < 0)[0]) + 1
        wanted = f">= {times[row - 1] // 1000} us, the time before it (or --sort)"
        raise TraceError(
            self.files[source[row]].name, int(line[row]), field="time", wanted=wanted, found=int(times[row] // 1000)
        )

    def _error(self, source: int, line: int, problem: Problem) -> TraceError:
        if isinstance(problem, str):
            return TraceError(self.files[source].name, line, problem)
        field, wanted, found = problem
        return TraceError(self.files[source].name, line, field=field, wanted=wanted, found=found)


def _step_back(times: np.ndarray) -> bool:
    return bool((np.diff(times) < 0).any())
