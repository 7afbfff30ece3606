"""Reading ``litehit_facts.csv``, in pieces, with a word for whatever is wrong with a row.

Segments may stand untagged or after ``rle:``, byte points after ``bytes:`` or, from older writers, ``mamba:``.  Names
in quotes may hold line ends, any field may stand in quotes, blanks may surround numbers and stand in a curve, and blank
lines are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from hitcurve.errors import TraceError
from hitcurve.formats.opening import Opened
from hitcurve.offline.checking import problem
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.facts_csv import BYTES_TAG, COLUMNS, HEADER
from hitcurve.offline.facts_csv_scanning import (
    MORE,
    NEWLINE,
    OPEN_QUOTE,
    PADDING,
    STRAY_QUOTE,
    Scanned,
    room_for,
    scan_rows,
)

CHUNK = 1 << 20
NUMBERS = COLUMNS[2:6]
RLE, POINTS, OLDER_POINTS = (np.frombuffer(tag, np.uint8) for tag in (b"rle:", BYTES_TAG, b"mamba:"))
REASONS = {
    STRAY_QUOTE: "a quote within a field: wanted the whole field in quotes, and this one doubled",
    OPEN_QUOTE: "a field in quotes does not end before the file does",
}


def read_csv(file: Opened) -> Iterator[FactRows]:
    """The rows of a facts file in batches, without ages.

    TraceError with path and line for the first thing that cannot be.  Memory: a piece of a megabyte, or the longest
    row, and its rows.
    """
    _skip_header(file)
    buffer = np.zeros(CHUNK + PADDING, np.uint8)
    scanned = room_for(CHUNK)
    held, line = 0, 2  # bytes of an unfinished row at the start of the buffer; its line
    final = False
    while not final or held:
        if held == len(buffer) - PADDING:  # one row longer than the buffer
            buffer = np.concatenate([buffer, np.zeros(len(buffer), np.uint8)])
            scanned = room_for(len(buffer) - PADDING)
        while held < len(buffer) - PADDING and not final:
            got = file.readinto(memoryview(buffer)[held : len(buffer) - PADDING])  # type: ignore[arg-type]
            held += got
            final = got == 0
        buffer[held : held + PADDING] = NEWLINE
        used = int(scan_rows(buffer, held, final, RLE, POINTS, OLDER_POINTS, scanned))
        n, ended, n_fields = scanned.filled.tolist()
        if n:
            yield _rows(file.name, buffer, scanned, line)
        line += int(scanned.lines[n])
        if ended != MORE:
            raise _explained(file.name, line, ended, n_fields, buffer, scanned.fields[n])
        buffer[: held - used] = buffer[used:held].copy()
        held -= used


def _skip_header(file: Opened) -> None:
    start = file.peek(len(HEADER) + 4)
    header = re.match(rb"(\xef\xbb\xbf)?" + HEADER[:-1] + rb"\r?(\n|\Z)", start)
    if header is None:
        found = start.splitlines()[0].decode("utf-8", "replace") if start else ""
        raise TraceError(file.name, 1, field="header", wanted=HEADER.decode().strip(), found=found)
    file.readinto(memoryview(bytearray(header.end())))


def _rows(name: str, text: np.ndarray, scanned: Scanned, line: int) -> FactRows:
    n = int(scanned.filled[0])
    pairs = int(scanned.offsets[n])
    data = text.tobytes()
    known: dict[bytes, str] = {}  # instances are few

    def name_at(row: int, column: int, start: int, end: int) -> str:
        raw = data[start:end]
        if (text := known.get(raw)) is None:
            try:
                text = raw.decode()
            except UnicodeDecodeError:
                where = line + int(scanned.lines[row])
                raise TraceError(name, where, field=COLUMNS[column], wanted="UTF-8 text", found=raw) from None
            text = text.replace('""', '"')
            if column == 1:
                known[raw] = text
        return text

    spans = scanned.fields[:n, :4].tolist()
    timestamp_ns, input_token_len, block_size_tokens, block_bytes = scanned.numbers[:n].T.copy()
    rows = FactRows(
        [name_at(row, 0, span[0], span[1]) for row, span in enumerate(spans)],
        [name_at(row, 1, span[2], span[3]) for row, span in enumerate(spans)],
        timestamp_ns,
        input_token_len,
        block_size_tokens,
        block_bytes,
        scanned.in_bytes[:n].copy(),
        scanned.offsets[: n + 1].copy(),
        scanned.first[:pairs].copy(),
        scanned.second[:pairs].copy(),
    )
    if (wrong := problem(rows)) is not None:
        where = line + int(scanned.lines[wrong.row])
        raise TraceError(name, where, field=wrong.field or COLUMNS[6], wanted=wrong.wanted, found=wrong.found)
    return rows


def _explained(name: str, line: int, ended: int, n_fields: int, text: np.ndarray, fields: np.ndarray) -> TraceError:
    """What is wrong with the row at which a scan ended."""
    if ended in REASONS:
        return TraceError(name, line, REASONS[ended])
    if n_fields != len(COLUMNS):
        return TraceError(name, line, f"wanted {len(COLUMNS)} fields ({', '.join(COLUMNS)}), found {n_fields}")
    texts = [text[a:b].tobytes().decode("utf-8", "replace") for a, b in fields.reshape(-1, 2).tolist()]
    for column, found in zip(NUMBERS, texts[2:6], strict=True):
        if not re.fullmatch(r"[ \t]*-?[0-9]{1,19}[ \t]*", found) or not -(2**63) < int(found) < 2**63:
            return TraceError(name, line, field=column, wanted="a whole number (int64)", found=found)
    wanted = "pairs of whole numbers like [[1,2],[4,1]], or bytes:[[4096,1]] (int64)"
    return TraceError(name, line, field=COLUMNS[6], wanted=wanted, found=texts[6])
