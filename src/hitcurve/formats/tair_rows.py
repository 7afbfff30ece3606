"""The rows of Tair optimizer traces, checked field by field, a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.formats.blocks import ranges
from hitcurve.formats.columns import MAX_LENGTH, MISSING, Problem, arrays, error_of, objects, whole_numbers
from hitcurve.formats.opening import Progress

if TYPE_CHECKING:
    from hitcurve.formats.batches import Batch
    from hitcurve.formats.opening import Opened

BLOCK_SIZE = 256  # tokens of a trace's blocks, where nobody says
IS_WRITE = {"get": False, "request": False, "write": True}
LEGACY = (("query_type", "block_mask"), ("total_keys", "output_len", "output_length"))  # one of each, and no type
NOT_LEGACY = "legacy dialog-style trace without type is not supported: rows are get, request or write, one event each"


@dataclass(frozen=True)
class TairRows:
    """Checked rows of one file, in its order; row i has the keys ``keys[ends[i]:ends[i+1]]``.

    The arrays are the caller's: they are not written to again.
    """

    path: str
    lines: np.ndarray  # int64 (rows,): where each row stands in the file, from 1
    is_write: np.ndarray  # bool (rows,)
    instance_ids: list[str]
    trace_ids: list[str]
    timestamp_ns: np.ndarray  # int64 (rows,), > 0, never decreasing from row to row, writes included
    input_len: np.ndarray  # int64 (rows,): tokens of the prompt; 0 for writes
    keys: np.ndarray  # int64 (keys of all rows,)
    ends: np.ndarray  # int64 (rows + 1,)

    def __len__(self) -> int:
        return len(self.lines)


def tair_rows(
    source: str | os.PathLike[str] | Opened,
    *,
    block_size: int = BLOCK_SIZE,
    progress: Progress | None = None,
) -> Iterator[TairRows]:
    """The rows of a file (``-``: standard input; or one that is open already), about a megabyte of text at a time.

    ``block_size``: tokens of each key's block; a read must have ``input_len // block_size`` keys.
    ``progress``: called as progress(rows so far, bytes so far, bytes in all or None).

    TraceError (path, line, field, wanted, found) at the first bad row, a step back in time among all rows included.
    """
    from hitcurve.formats.batches import Batches
    from hitcurve.formats.opening import Opened

    if block_size < 1:
        raise BadParameter(f"block_size: wanted at least 1, found {block_size}")
    file = source if isinstance(source, Opened) else Opened(None if os.fspath(source) == "-" else Path(source))
    latest = n_rows = 0
    try:
        for batch in Batches(file, 0, "keys", False, int, words=True):
            fields, problems = checked_fields(batch)
            latest = check_order(fields, latest, problems)
            numbers = arrays(fields.rows, "keys", {})
            keys, ends = _chosen(batch, numbers)
            _check_lengths(fields, np.diff(ends), block_size, problems)
            if problems:
                row = min(problems)
                raise error_of(file.name, batch.lines[row], problems[row])
            n_rows += len(batch.rows)
            yield TairRows(
                path=file.name,
                lines=np.array(batch.lines, np.int64),
                is_write=fields.is_write,
                instance_ids=[row["instance_id"] for row in fields.rows],
                trace_ids=[
                    row.get("trace_id") or trace_id(row["instance_id"], row["timestamp_ns"]) for row in fields.rows
                ],
                timestamp_ns=fields.timestamp_ns,
                input_len=fields.input_len,
                keys=keys,
                ends=ends,
            )
            if progress is not None:
                progress(n_rows, file.position, file.size)
    finally:
        file.close()


def trace_id(instance_id: str, timestamp_ns: int) -> str:
    """The name of a row that has none."""
    return f"trace_{instance_id}_{timestamp_ns}"


@dataclass(frozen=True)
class Fields:
    """``rows`` of a batch, an empty one in place of what is no JSON object, and their columns, one entry a row."""

    rows: list[dict[str, Any]]
    is_write: np.ndarray
    timestamp_ns: np.ndarray
    input_len: np.ndarray


def checked_fields(batch: Batch) -> tuple[Fields, dict[int, Problem]]:
    """The columns of a batch, and what is wrong with its rows (the first problem of each)."""
    problems: dict[int, Problem] = {}
    rows = objects(batch, problems)
    is_write = _kinds(rows, problems)
    seen = set().union(*rows)
    _texts(rows, "instance_id", problems, required=True)
    _texts(rows, "trace_id", problems, required=False)
    timestamps = whole_numbers(rows, "timestamp_ns", problems, True, 1, 2**63 - 1)
    arrays(rows, "keys", problems)
    reads = rows if not is_write.any() else [{} if write else row for row, write in zip(rows, is_write, strict=True)]
    lengths_wrong: dict[int, Problem] = {}
    input_len = whole_numbers(reads, "input_len", lengths_wrong, True, 1, MAX_LENGTH)
    for k, problem in lengths_wrong.items():
        if not is_write[k]:
            problems.setdefault(k, problem)
    input_len[is_write] = 0
    for field, (wanted, allowed) in OPTIONAL.items():
        if field in seen:
            for k, value in enumerate([row.get(field) for row in rows]):
                if value is not None and not allowed(value):
                    problems.setdefault(k, (field, wanted, value))
    return Fields(rows, is_write, timestamps, input_len), problems


def check_order(fields: Fields, latest: int, problems: dict[int, Problem]) -> int:
    """Add a problem for each row whose time is before that of a good row above it; return the latest good time."""
    good = fields.timestamp_ns.copy()
    if problems:
        good[list(problems)] = 0
    before = np.maximum.accumulate(np.concatenate([[latest], good]))
    for row in np.flatnonzero((good < before[:-1]) & (good > 0)).tolist():
        problems[row] = ("timestamp_ns", f">= {before[row]}, the time before it", int(good[row]))
    return int(before[-1])


def _check_lengths(fields: Fields, counts: np.ndarray, block_size: int, problems: dict[int, Problem]) -> None:
    wanted = fields.input_len // block_size
    wrong = np.flatnonzero((counts != wanted) & ~fields.is_write)
    low, high = ranges(fields.input_len[wrong], counts[wrong], full=True)
    for row, smallest, largest in zip(wrong.tolist(), low.tolist(), high.tolist(), strict=True):
        words = f"{wanted[row]}, for input_len {fields.input_len[row]} at block size {block_size}"
        if smallest <= largest and counts[row]:
            words += f" (those from {smallest} to {largest} fit)"
        problems.setdefault(row, ("number of keys", words, int(counts[row])))


def _kinds(rows: list[dict[str, Any]], problems: dict[int, Problem]) -> np.ndarray:
    """bool (rows,): whether each is a write."""
    kinds: list[Any] = [row.get("type") for row in rows]
    try:
        return np.array([IS_WRITE[kind] for kind in kinds], bool)
    except (KeyError, TypeError):
        pass
    for k, (row, kind) in enumerate(zip(rows, kinds, strict=True)):
        if not (type(kind) is str and kind in IS_WRITE):
            legacy = kind is None and all(any(name in row for name in names) for names in LEGACY)
            found = MISSING if "type" not in row else kind
            problems.setdefault(k, NOT_LEGACY if legacy else ("type", "get, request or write", found))
    return np.array([kind == "write" for kind in kinds], bool)


def _texts(rows: list[dict[str, Any]], field: str, problems: dict[int, Problem], required: bool) -> None:
    values: list[Any] = [row.get(field) for row in rows]
    if set(map(type, values)) <= {str} and (not required or all(values)) and _is_unicode("".join(values)):
        return
    for k, value in enumerate(values):
        good = (value is None or type(value) is str) and (value or not required)
        if good and value and not _is_unicode(value):
            problems.setdefault(k, (field, "valid Unicode", value))
        if not good:
            found = MISSING if field not in rows[k] else value
            problems.setdefault(k, (field, "a string that is not empty" if required else "a string", found))


def _is_unicode(text: str) -> bool:
    """JSON can spell half a surrogate pair, which no file of names can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _chosen(batch: Batch, numbers: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The keys of each row, one row after another, as arrays of the caller's own; -1: none."""
    if numbers == list(range(len(batch.ends) - 1)):
        return batch.ids[: batch.ends[-1]].copy(), batch.ends.copy()
    chosen = [batch.array(number) if number >= 0 else batch.ids[:0] for number in numbers]
    ends = np.concatenate([[0], np.cumsum([len(keys) for keys in chosen], dtype=np.int64)])
    return np.concatenate(chosen) if chosen else np.empty(0, np.int64), ends


def _whole(least: int, most: int) -> tuple[str, Callable[[Any], bool]]:
    return f"a whole number from {least} to {most}", lambda value: type(value) is int and least <= value <= most


def _list_of(kind: type, name: str) -> tuple[str, Callable[[Any], bool]]:
    return f"a list of {name}", lambda value: type(value) is list and set(map(type, value)) <= {kind}


def _is_mask(value: Any) -> bool:
    if type(value) is int:
        return 0 <= value < 2**63
    return type(value) is list and set(map(type, value)) <= {bool}


# field: (what is wanted, whether a value is that); null is nothing
OPTIONAL: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "tokens": _list_of(int, "whole numbers"),
    "query_type": ("a string", lambda value: type(value) is str),
    "block_mask": ("a list of true and false, or a whole number >= 0", _is_mask),
    "sw_size": _whole(-(2**31), 2**31 - 1),
    "location_spec_names": _list_of(str, "strings"),
    "ttl_us": _whole(-1, 2**63 - 1),
}
