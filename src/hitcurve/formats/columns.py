"""The columns of a trace, checked and collected batch by batch.

Every check is per value, and a row with a bad value is a TraceError, or, under ``skip_bad``, left out and counted.
Whole columns are checked at once where all their values are of the plain type; the loop over values finds out which
one is bad, and why.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve.errors import TraceError
from hitcurve.formats.batches import BadDocument, Batch, NotIds
from hitcurve.trace import Labels

UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
MAX_LENGTH = 2**32 - 1  # tokens: beyond it a sum over 2 G requests may leave int64
MAX_TURN = 2**31 - 1

Problem = tuple[str, str, Any] | str  # field, wanted, found; or a whole sentence


def error_of(path: str, line: int, problem: Problem) -> TraceError:
    if isinstance(problem, str):
        return TraceError(path, line, problem)
    field, wanted, found = problem
    return TraceError(path, line, field=field, wanted=wanted, found=found)


def objects(batch: Batch, problems: dict[int, Problem]) -> list[dict[str, Any]]:
    """The rows of a batch, an empty one in place of what is no JSON object, which is a problem."""
    if set(map(type, batch.rows)) <= {dict}:
        return batch.rows
    rows = list(batch.rows)
    for k, row in enumerate(rows):
        if type(row) is not dict:
            problems[k] = (
                row.reason if isinstance(row, BadDocument) else f"wanted a JSON object, found {type(row).__name__}"
            )
            rows[k] = {}
    return rows


class Grown:
    """A column that grows by batches."""

    def __init__(self) -> None:
        self._parts: list[np.ndarray] = []

    def add(self, part: np.ndarray) -> None:
        self._parts.append(part)

    def joined(self, dtype: Any = np.int64) -> np.ndarray:
        self._parts = [np.concatenate(self._parts) if self._parts else np.empty(0, dtype)]
        return self._parts[0]


class Names:
    """A label column that grows by batches."""

    def __init__(self) -> None:
        self._codes = Grown()
        self._known: dict[str, int] = {}

    def add(self, values: list[Any]) -> None:
        known = self._known
        self._codes.add(np.array([-1 if v is None else known.setdefault(str(v), len(known)) for v in values], np.int32))

    def keep(self, rows: np.ndarray) -> None:
        if self._known:
            codes = self._codes.joined(np.int32)[rows]
            self._codes = Grown()
            self._codes.add(codes)

    def labels(self) -> Labels | None:
        return Labels(self._codes.joined(np.int32), tuple(self._known)) if self._known else None


def whole_numbers(
    rows: list[dict[str, Any]], key: str, problems: dict[int, Problem], required: bool, least: int = 0,
    most: int = MAX_LENGTH,
) -> np.ndarray:  # fmt: skip
    """int64, one a row; -1 where a row has none (a problem if ``required``)."""
    values = [row.get(key) for row in rows]
    if set(map(type, values)) <= {int}:
        try:
            column = np.array(values, np.int64)
        except OverflowError:
            pass
        else:
            if not len(column) or (column.min() >= least and column.max() <= most):
                return column
    column = np.full(len(values), -1, np.int64)
    for row, value in enumerate(values):
        if type(value) is int and least <= value <= most:
            column[row] = value
        elif value is not None or required:
            problems.setdefault(row, (key, f"a whole number from {least} to {most}", _shown(rows[row], key)))
    return column


def times(rows: list[dict[str, Any]], key: str, unit: str, problems: dict[int, Problem], required: bool) -> np.ndarray:
    """int64 nanoseconds, one a row; -1 where a row has none (a problem if ``required``)."""
    per_unit = UNITS[unit]
    values = [row.get(key) for row in rows]
    kinds = set(map(type, values))
    if kinds <= {int} or kinds <= {float}:
        try:
            column = np.array(values, np.float64 if float in kinds else np.int64)
        except OverflowError:
            column = np.array([-1])
        if not len(column) or (column.min() >= 0 and column.max() < (2**63 - 1) // per_unit):
            column *= per_unit
            return column if column.dtype == np.int64 else np.rint(column).astype(np.int64)
    column = np.full(len(values), -1, np.int64)
    for row, value in enumerate(values):
        if (type(value) is int or type(value) is float) and 0 <= value < (2**63 - 1) // per_unit:
            column[row] = round(value * per_unit)
        elif value is not None or required:
            wanted = f"a time in {unit}: a number >= 0 below {(2**63 - 1) // per_unit}"
            problems.setdefault(row, (key, wanted, _shown(rows[row], key)))
    return column


def names(rows: list[dict[str, Any]], key: str, problems: dict[int, Problem]) -> list[Any]:
    """One string or whole number a row, or None."""
    values = [row.get(key) for row in rows]
    if not set(map(type, values)) <= {str, int, type(None)}:
        for row, value in enumerate(values):
            if not (value is None or type(value) is str or type(value) is int):
                problems.setdefault(row, (key, "a string or a whole number", value))
    return values


def arrays(rows: list[dict[str, Any]], key: str, problems: dict[int, Problem]) -> list[int]:
    """The number of each row's id array; -1 where it has none, which is a problem."""
    numbers = [row.get(key) for row in rows]
    if set(map(type, numbers)) <= {int}:
        return numbers  # type: ignore[return-value]
    for row, number in enumerate(numbers):
        if isinstance(number, NotIds):
            problems.setdefault(row, (key, number.wanted, number.found))
            numbers[row] = -1
        elif number is None:
            problems.setdefault(row, (key, "a list of block ids", MISSING))
            numbers[row] = -1
    return numbers  # type: ignore[return-value]


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()


def _shown(row: dict[str, Any], key: str) -> Any:
    return row.get(key, MISSING)
