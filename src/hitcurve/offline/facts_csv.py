"""Writing ``litehit_facts.csv``: seven columns, byte for byte as LiteHit writes them.

    trace_id,instance_id,timestamp_ns,input_token_len,block_size_tokens,block_bytes,hit_curve
    request-7,engine-0,1720000000000,900,256,4194304,"[[1,2],[4,1]]"
    request-8,hybrid-0,1720000000001,700,128,65536,"bytes:[[4096,1],[131072,5]]"

Lines end in LF.  A name is quoted only where it holds a comma, a quote, CR or LF, its quotes doubled; ``hit_curve``
always is.  Segments stand untagged, which every reader knows; byte points after ``bytes:``.
There is no room for ages: what is written is cut at each row's time to live, and segments that go on from one another
are joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.offline.buffers import encoded
from hitcurve.offline.cutting import cut
from hitcurve.offline.fact_rows import FactRows

COLUMNS = (
    "trace_id",
    "instance_id",
    "timestamp_ns",
    "input_token_len",
    "block_size_tokens",
    "block_bytes",
    "hit_curve",
)
HEADER = ",".join(COLUMNS).encode() + b"\n"
BYTES_TAG = b"bytes:"

PIECE = 1 << 17  # rows and pairs of one piece of text: some megabytes

_0, _10 = np.uint64(0), np.uint64(10)
QUOTE, COMMA, NEWLINE, RETURN, MINUS = ord('"'), ord(","), ord("\n"), ord("\r"), ord("-")
OPEN, CLOSE, ZERO = ord("["), ord("]"), ord("0")


class FactsCsv:
    """A facts file being written to ``file`` (binary): the header now, rows as they are put."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        file.write(HEADER)

    def put(self, rows: FactRows) -> None:
        """Append ``rows``, each cut at its time to live.  OutputError for names that are no valid Unicode."""
        for text in lines(rows):
            self._file.write(text)


def lines(rows: FactRows) -> Iterator[memoryview]:
    """The lines of ``rows``, each cut at its time to live, in pieces.  O(pairs + characters of names)."""
    for piece in cut(rows).pieces(PIECE):
        trace_id, instance_id = (encoded(name, getattr(piece, name)) for name in COLUMNS[:2])
        numbers = np.stack([getattr(piece, name) for name in COLUMNS[2:6]], axis=1)
        characters = len(trace_id.characters) + len(instance_id.characters)
        out = np.empty(2 * characters + 128 * len(piece) + 44 * len(piece.first), np.uint8)
        filled = write_lines(
            trace_id, instance_id, numbers, piece.in_bytes, np.frombuffer(BYTES_TAG, np.uint8),
            piece.offsets, piece.first, piece.second, out,
        )  # fmt: skip
        yield memoryview(out)[:filled]  # type: ignore[arg-type]


@entry
def write_lines(trace_id, instance_id, numbers, in_bytes, points, offsets, first, second, out):
    """Write one line a row; returns the number of bytes written."""
    at = 0
    for row in range(len(numbers)):
        at = put_name(out, at, trace_id.characters, trace_id.ends[row], trace_id.ends[row + 1])
        at = put_name(out, at, instance_id.characters, instance_id.ends[row], instance_id.ends[row + 1])
        for k in range(4):
            at = put_number(out, at, numbers[row, k])
            out[at] = COMMA
            at += 1
        out[at] = QUOTE
        at += 1
        if in_bytes[row]:
            at = put_text(out, at, points)
        out[at] = OPEN
        at += 1
        for i in range(offsets[row], offsets[row + 1]):
            out[at] = OPEN
            at = put_number(out, at + 1, first[i])
            out[at] = COMMA
            at = put_number(out, at + 1, second[i])
            out[at] = CLOSE
            out[at + 1] = COMMA
            at += 2
        if offsets[row + 1] > offsets[row]:
            at -= 1
        out[at] = CLOSE
        out[at + 1] = QUOTE
        out[at + 2] = NEWLINE
        at += 3
    return at


@helper
def put_text(out, at, text):
    for i in range(len(text)):
        out[at + i] = text[i]
    return at + len(text)


@helper
def put_name(out, at, text, start, end):
    """Write a name, in quotes where it needs them, and a comma; returns the position after it."""
    quoted = False
    for i in range(start, end):
        c = text[i]
        quoted = quoted or c in (COMMA, QUOTE, NEWLINE, RETURN)
    if quoted:
        out[at] = QUOTE
        at += 1
    for i in range(start, end):
        if text[i] == QUOTE:
            out[at] = QUOTE
            at += 1
        out[at] = text[i]
        at += 1
    if quoted:
        out[at] = QUOTE
        at += 1
    out[at] = COMMA
    return at + 1


@helper
def put_number(out, at, number):
    """Write an int64 in digits; returns the position after it."""
    left = np.uint64(number)
    if number < 0:
        out[at] = MINUS
        at += 1
        left = _0 - left
    size = 1
    power = _10
    while left >= power and size < 19:
        power *= _10
        size += 1
    for k in range(size):
        out[at + size - 1 - k] = np.uint8(ZERO + left % _10)
        left //= _10
    return at + size
