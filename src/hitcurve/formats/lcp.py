"""PrefixSim's ``lcp`` files: requests with their future, read and written front to back."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.formats.format import Defaults, TraceFormat, Wish
from hitcurve.formats.prefixsim import ENTRY, LCP, UNKNOWN, has_magic
from hitcurve.trace import LABEL_COLUMNS, Labels, Trace

if TYPE_CHECKING:
    from hitcurve.formats.opening import Opened

BATCH = 1 << 18  # block entries written at once


def _read(files: list[Opened], wish: Wish) -> Trace:
    if wish.identity == "raw":
        raise BadParameter("identity raw: the ids of an lcp file are whole paths; they have no raw form")
    from hitcurve.formats.prefixsim_reading import read

    return read(LCP_FORMAT, LCP, files, wish)


def write(trace: Trace, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
    """Write ``trace`` in the order of completion, with the next access of every block.  O(references) time.

    Times are cut to microseconds.  BadParameter where the trace has more than 255 types, or a name over 24 bytes.
    """
    from hitcurve.formats.writing import opened

    trace, arrival_ns, completion_ns = _by_completion(trace)
    header, rows = _header_and_records(trace, arrival_ns // 1000, completion_ns // 1000)
    with opened(path) as file:
        file.write(header)
        _write_requests(trace, rows, file)


def _header_and_records(trace: Trace, start: np.ndarray, completed: np.ndarray) -> tuple[bytes, list[tuple[int, ...]]]:
    types = _types(trace.request_type)
    n = trace.n_requests
    columns = {
        "start_time_us": start,
        "complete_time_us": completed,
        **_chats(trace),
        "n_blocks": trace.request_blocks,
        "input_length": _or_unknown(trace.input_tokens, n),
        "output_length": _or_unknown(trace.output_tokens, n),
        "turn": _or_unknown(trace.turn, n),
        "type_id": np.zeros(n, np.int64)
        if trace.request_type is None
        else trace.request_type.codes.astype(np.int64) + 1,
    }
    header = {
        "start_magic": LCP.magic,
        "version": LCP.version,
        "n_requests": n,
        "n_blocks": trace.n_block_refs,
        "n_unique_blocks": trace.n_blocks,
        "max_blocks_per_request": int(trace.request_blocks.max(initial=0)),
        "start_time_us": int(completed[0]) if n else 0,
        "end_time_us": int(completed[-1]) if n else 0,
        "block_size_tokens": trace.definition.block_size or 0,
        "block_id_kind": 1,
        "has_next_access": 1,
        "n_types": len(types),
        "zero_byte": 0,
        "type_names": b"".join(name.ljust(LCP.type_bytes, b"\0") for name in types),
        "zero": b"",
        "end_magic": LCP.magic,
    }
    text = LCP.header_struct.pack(*(header[field.name] for field in LCP.header))
    rows = list(zip(*(columns[field.name].tolist() for field in LCP.record), strict=True))
    return text, rows


def _write_requests(trace: Trace, rows: list[tuple[int, ...]], file: IO[bytes]) -> None:
    record = LCP.record_struct
    counts = trace.request_blocks.tolist()
    at = 0
    for entries, upto in _entries(trace):
        done = 0
        for r in range(at, upto):
            file.write(record.pack(*rows[r]))
            file.write(entries[done : done + counts[r]].tobytes())
            done += counts[r]
        at = upto


def _by_completion(trace: Trace) -> tuple[Trace, np.ndarray, np.ndarray]:
    """The requests in the order of completion (arrival, where it is unknown), with both times of each."""
    arrived = completed = trace.arrival_ns
    if trace.completion_ns is not None:
        completed = np.where(trace.completion_ns < 0, arrived, trace.completion_ns)
    if not (np.diff(completed) < 0).any():
        return trace, arrived, completed
    from hitcurve.trace.interning import renumbered

    order = np.argsort(completed, kind="stable")
    spans = renumbered(
        order, trace.span_offsets, trace.span_first, trace.span_length, trace.raw_ids, trace.definition.identity
    )
    columns: dict[str, Any] = {"arrival_ns": completed[order], "completion_ns": completed[order]}
    for name in ("input_tokens", "output_tokens", "turn"):
        column = getattr(trace, name)
        columns[name] = None if column is None else column[order]
    for name in LABEL_COLUMNS:
        column = getattr(trace, name)
        columns[name] = None if column is None else column.take(order)
    return replace(trace, **columns, **spans), arrived[order], completed[order]


def _types(labels: Labels | None) -> list[bytes]:
    names = [] if labels is None else [name.encode() for name in labels.names]
    if len(names) > LCP.most_types:
        raise BadParameter(f"an lcp file holds at most {LCP.most_types} request types, the trace has {len(names)}")
    for name in names:
        if len(name) > LCP.type_bytes or name.endswith(b"\0"):
            raise BadParameter(f"an lcp file holds type names of at most {LCP.type_bytes} bytes, not {name.decode()!r}")
    return names


def _chats(trace: Trace) -> dict[str, np.ndarray]:
    """chat_id, parent_chat_id, session_next_req, session_id of all requests."""
    from hitcurve.formats.writing import previous_in_session

    n = trace.n_requests
    chat = _numbers(trace.request_id, n, absent=-1)
    if (chat < 0).any() or len(np.unique(chat)) < n:
        chat = np.arange(n)
    parent, following = np.full(n, -1), np.full(n, -1)
    if trace.session is not None:
        before = previous_in_session(trace)
        later = np.flatnonzero(before >= 0)
        parent[later] = chat[before[later]]
        following[before[later]] = later + 1
    session = _numbers(trace.session, n, absent=0)
    return {"chat_id": chat, "parent_chat_id": parent, "session_next_req": following, "session_id": session}


def _numbers(labels: Labels | None, n: int, absent: int) -> np.ndarray:
    """Names that are all whole numbers as those, any others numbered from 1."""
    if labels is None:
        return np.full(n, absent)
    numbers = [int(name) if name.isdecimal() and name == str(int(name)) else -1 for name in labels.names]
    if not all(0 < number < 2**63 for number in numbers if number != absent) or -1 in numbers:
        numbers = list(range(1, len(numbers) + 1))
    return np.array([*numbers, absent], np.int64)[labels.codes]


def _or_unknown(column: np.ndarray | None, n: int) -> np.ndarray:
    if column is None:
        return np.full(n, UNKNOWN)
    if column.max(initial=0) >= UNKNOWN:
        raise BadParameter(f"an lcp file holds lengths below {UNKNOWN}, not {column.max()}")
    return np.where(column < 0, UNKNOWN, column.astype(np.int64))


def _entries(trace: Trace) -> Iterator[tuple[np.ndarray, int]]:
    """The entries of consecutive requests, and the number of the request after them, in batches."""
    from hitcurve.kernels.frame import NEVER
    from hitcurve.kernels.next_use import next_uses
    from hitcurve.trace.interning import expand

    offsets, first, length = next_uses(
        trace.span_offsets, trace.span_first, trace.span_length, np.ones(trace.n_requests, bool),
        trace.request_blocks, trace.n_blocks,
    )  # fmt: skip
    ends = np.concatenate([[0], np.cumsum(trace.request_blocks)])
    at = 0
    while at < trace.n_requests:
        upto = max(at + 1, int(np.searchsorted(ends, ends[at] + BATCH, side="right")) - 1)
        spans = slice(trace.span_offsets[at], trace.span_offsets[upto])
        ids = np.empty(ends[upto] - ends[at], np.int64)
        expand(trace.span_first[spans], trace.span_length[spans], ids)
        runs = slice(offsets[at], offsets[upto])
        n_in_run = length[runs].astype(np.int64)
        within = np.arange(len(ids)) - np.repeat(np.cumsum(n_in_run) - n_in_run, n_in_run)
        value = np.repeat(first[runs], n_in_run)
        value = np.where(value == NEVER, -1, value + within)
        delta = np.diff(value, prepend=0)
        starts = (ends[at:upto] - ends[at])[trace.request_blocks[at:upto] > 0]
        delta[starts] = value[starts]
        entries = np.empty(len(ids), ENTRY)
        entries["block_id"] = ids + 1
        entries["next_access"] = delta
        yield entries, upto
        at = upto


LCP_FORMAT = TraceFormat(
    name="lcp",
    title="PrefixSim's lcp files",
    what=(
        "One binary file, made for streaming: every request with the next access of each of its blocks, "
        "in the order of completion."
    ),
    defaults=Defaults(block_size=None, id_kind="prefix", id_scope="global", tail_rule="ceil", time_unit="us"),
    sample="",
    fields=(
        *((field.name, field.what) for field in LCP.record),
        ("block_id", "dense id of the whole path, from 1 in order of first appearance (u64)"),
        ("next_access", "number of the block's next access less that of the entry before; -1: never (i64)"),
    ),
    recognise=lambda document, start: has_magic(LCP, start),
    read=_read,
    write=write,
)
