"""The compiled scanner of facts files: where the fields of each row stand, its numbers, and the pairs of its curve.

It stops at the first row that is none, and leaves it to its caller to say why.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper

PADDING = 16  # line ends after the text, that the scanner may look at

QUOTE, COMMA, NEWLINE, RETURN, SPACE, TAB = ord('"'), ord(","), ord("\n"), ord("\r"), ord(" "), ord("\t")
OPEN, CLOSE, MINUS = ord("["), ord("]"), ord("-")
_0, _9, _10, _ZERO, _MOST = (np.uint64(n) for n in (0, 9, 10, ord("0"), 2**63 - 1))

MORE, STRAY_QUOTE, OPEN_QUOTE, ODD = range(4)  # why a scan ended: for want of text or room, or at a row that is none


class Scanned(NamedTuple):
    """Room for the rows of one piece of text, and how much of it is filled."""

    fields: np.ndarray  # int64 (rows, 14): start and end of each field, without its quotes
    numbers: np.ndarray  # int64 (rows, 4)
    in_bytes: np.ndarray  # bool (rows,)
    offsets: np.ndarray  # int64 (rows + 1,)
    first: np.ndarray  # int64 (pairs,)
    second: np.ndarray  # int64 (pairs,)
    lines: np.ndarray  # int64 (rows + 1,): lines before the row
    filled: np.ndarray  # int64 (3,): rows; why the scan ended; fields of the row at which it did


def room_for(n: int) -> Scanned:
    """For ``n`` bytes of text: no row has less than 13, no pair less than 6."""
    rows, pairs = n // 13 + 2, n // 6 + 2
    return Scanned(
        fields=np.empty((rows, 14), np.int64),
        numbers=np.empty((rows, 4), np.int64),
        in_bytes=np.empty(rows, bool),
        offsets=np.zeros(rows + 1, np.int64),
        first=np.empty(pairs, np.int64),
        second=np.empty(pairs, np.int64),
        lines=np.empty(rows + 1, np.int64),
        filled=np.zeros(3, np.int64),
    )


@helper
def after_blanks(text, i, end):
    while i < end and (text[i] == SPACE or text[i] == TAB or text[i] == RETURN or text[i] == NEWLINE):
        i += 1
    return i


@helper
def after_tag(text, i, tag):
    """The position after ``tag``, or ``i`` where it does not stand there."""
    k = 0
    while k < len(tag) and text[i + k] == tag[k]:
        k += 1
    return i + k if k == len(tag) else i


@helper
def whole_number(text, i):
    """(value, position after it) of digits, or (0, -1) where there are none or too many."""
    value = _0
    start = i
    digit = np.uint64(text[i]) - _ZERO
    while digit <= _9 and i - start < 19:
        value = value * _10 + digit
        i += 1
        digit = np.uint64(text[i]) - _ZERO
    good = start < i and digit > _9 and value <= _MOST
    return (np.int64(value), i) if good else (np.int64(0), np.int64(-1))


@helper
def split_row(text, at, stop, fields):
    """(position of the line end, number of fields, lines, why it is no row) of the row at ``at``."""
    i = at
    lines, n, ended = 1, 0, MORE
    while True:
        start = i
        if text[i] == QUOTE:
            i += 1
            start = i
            while i < stop and (text[i] != QUOTE or text[i + 1] == QUOTE):
                lines += text[i] == NEWLINE
                i += 2 if text[i] == QUOTE else 1
            end = i
            if i >= stop:
                ended = OPEN_QUOTE
                break
            i += 1
            if text[i] == RETURN and text[i + 1] == NEWLINE:
                i += 1
        else:
            while text[i] != COMMA and text[i] != NEWLINE and text[i] != QUOTE:
                i += 1
            end = i - (text[i] == NEWLINE and i > start and text[i - 1] == RETURN)
        if n < 7:
            fields[2 * n] = start
            fields[2 * n + 1] = end
        n += 1
        if text[i] == NEWLINE:
            break
        if text[i] != COMMA:
            ended = STRAY_QUOTE
            break
        i += 1
    return i, n, lines, ended


@helper
def read_numbers(text, fields, numbers):
    """Whether the four fields are whole numbers; they are written to ``numbers``."""
    good = True
    k = 0
    while good and k < 4:
        end = fields[5 + 2 * k]
        i = after_blanks(text, fields[4 + 2 * k], end)
        negative = text[i] == MINUS
        value, i = whole_number(text, i + negative)
        good = i >= 0 and after_blanks(text, i, end) == end
        numbers[k] = -value if negative else value
        k += 1
    return good


@helper
def read_pairs(text, i, end, pairs, first, second):
    """Write the pairs of a curve behind the others; their number in all then, or -1 where it is none."""
    i = after_blanks(text, i, end)
    good = text[i] == OPEN
    i = after_blanks(text, i + 1, end)
    more = good and text[i] != CLOSE
    while more:
        good = text[i] == OPEN
        value, i = whole_number(text, after_blanks(text, i + 1, end))
        good = good and i >= 0
        first[pairs] = value
        i = after_blanks(text, i, end)
        good = good and text[i] == COMMA
        value, i = whole_number(text, after_blanks(text, i + 1, end))
        good = good and i >= 0
        second[pairs] = value
        i = after_blanks(text, i, end)
        good = good and text[i] == CLOSE
        pairs += 1
        i = after_blanks(text, i + 1, end)
        more = good and text[i] == COMMA
        if more:
            i = after_blanks(text, i + 1, end)
    good = good and i < end and text[i] == CLOSE and after_blanks(text, i + 1, end) == end
    return pairs if good else np.int64(-1)


@entry
def scan_rows(text, stop, final, rle, points, older_points, scanned):
    """Scan ``text[:stop]`` (uint8, ``PADDING`` line ends after it); returns the number of bytes consumed.

    ``final``: no more text follows, so an unfinished last row is a row.
    """
    at = n = pairs = lines = np.int64(0)
    ended, n_fields = MORE, 0
    while at < stop and n < len(scanned.in_bytes):
        fields = scanned.fields[n]
        end, n_fields, own_lines, ended = split_row(text, at, stop, fields)
        if end >= stop and not final:
            ended = MORE
            break
        if ended != MORE:
            break
        if n_fields > 1 or fields[0] > at or fields[1] > at:  # else it is a blank line
            more_pairs = np.int64(-1)
            if n_fields == 7 and read_numbers(text, fields, scanned.numbers[n]):
                bare = after_blanks(text, fields[12], fields[13])
                curve = after_tag(text, bare, rle)
                if curve == bare:
                    curve = after_tag(text, bare, points)
                    if curve == bare:
                        curve = after_tag(text, bare, older_points)
                    scanned.in_bytes[n] = curve > bare
                else:
                    scanned.in_bytes[n] = False
                more_pairs = read_pairs(text, curve, fields[13], pairs, scanned.first, scanned.second)
            if more_pairs < 0:
                ended = ODD
                break
            pairs = more_pairs
            scanned.lines[n] = lines
            n += 1
            scanned.offsets[n] = pairs
        lines += own_lines
        at = end + 1
    scanned.lines[n] = lines
    scanned.filled[0], scanned.filled[1], scanned.filled[2] = n, ended, n_fields
    return min(at, stop)
