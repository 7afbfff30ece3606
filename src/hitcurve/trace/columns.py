"""Columns of a trace that are more than an array: names of requests, and the ids that the file gave blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from hitcurve.errors import BadParameter


@dataclass(frozen=True)
class Labels:
    """A column of names, each row an index into ``names``; -1 where the row has none.

    ``codes`` int32 (rows,), ``names`` a tuple of distinct strings.
    """

    codes: np.ndarray
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", read_only("codes", self.codes, np.int32))
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


def read_only(name: str, value: Any, dtype: Any) -> np.ndarray:
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
