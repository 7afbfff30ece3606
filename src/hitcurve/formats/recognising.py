"""Which format is it?  Told from the first document of the file, never from its name."""

from __future__ import annotations

from typing import Any

from hitcurve.errors import TraceError
from hitcurve.formats.format import TraceFormat
from hitcurve.formats.opening import Opened

FIRST = 1 << 16


def first_line(file: Opened) -> bytes:
    """The first line that is not blank, whole, however long.  It will be read again."""
    wanted = FIRST
    while True:
        start = file.peek(wanted)
        line, newline, _ = start.removeprefix(b"\xef\xbb\xbf").lstrip().partition(b"\n")
        if newline or len(start) < wanted:
            return line
        wanted = 2 * len(start)


def recognised(file: Opened, formats: tuple[TraceFormat, ...]) -> TraceFormat:
    """The first of ``formats`` that knows the file; TraceError where none does."""
    start = file.peek(FIRST)
    for format in formats:  # a binary file has no lines: it is not searched for the end of its first one
        if format.json is None and format.recognise(None, start):
            return format
    document = first_document(file)
    for format in formats:
        if format.recognise(document, start):
            return format
    if document is None and not first_line(file):
        raise TraceError(file.name, reason="no usable row")
    if document is None:
        raise TraceError(file.name, 1, reason_not_json(file))
    keys = ", ".join(list(document)[:8]) or "none"
    known = ", ".join(f.name for f in formats)
    raise TraceError(
        file.name,
        1,
        f"no known format ({known}) has records with the keys {keys}; name the key of the block ids: --field ids=KEY",
    )


def first_document(file: Opened) -> dict[str, Any] | None:
    """The first JSON object: on the first line, or, spread over many lines, the whole file."""
    from hitcurve.formats.batches import BadDocument, parsed

    line = first_line(file)
    if not line.startswith(b"{"):
        return None
    document = parsed(line)
    if isinstance(document, BadDocument):
        document = parsed(file.peek(1 << 62).removeprefix(b"\xef\xbb\xbf"))
    return document if isinstance(document, dict) else None


def reason_not_json(file: Opened) -> str:
    from hitcurve.formats.batches import BadDocument, parsed

    value = parsed(first_line(file))
    if isinstance(value, BadDocument):
        return value.reason
    return f"wanted a JSON object, found {type(value).__name__}"
