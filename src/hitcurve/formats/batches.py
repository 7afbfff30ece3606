"""From an opened file to batches of rows: the scanner's results where it can, the full parser's where it must.

Both give the same: a document is a dict in which every id array is replaced by its number in the batch (an ``int``), or
by ``NotIds`` where what stands under the id key is no list of ids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import orjson

from hitcurve.errors import shown
from hitcurve.formats.opening import Opened
from hitcurve.formats.scanning import PADDING, Found, scan

CHUNK = 1 << 20  # bytes scanned at once: ids and text stay in cache (agentic JSON: 4 MB chunks read 15 % slower)
DOCUMENTS = 1 << 14  # most documents in a batch
LONG_NUMBER = re.compile(rb"\d{20}|9\d{18}")  # may lie beyond 64 bits


@dataclass(frozen=True)
class NotIds:
    """What stands where a list of ids was wanted: a problem with the words of a TraceError."""

    wanted: str
    found: Any


@dataclass(frozen=True)
class BadDocument:
    """What is no JSON object, or no row: a whole sentence on why."""

    reason: str

    @classmethod
    def of(cls, field: str, wanted: str, found: Any) -> BadDocument:
        return cls(f"{field}: wanted {wanted}, found {shown(found)}")


@dataclass
class Batch:
    """``rows[k]`` (a dict or BadDocument) stands at line ``lines[k]`` (1-based), array a is ``ids[ends[a]:ends[a+1]]``.

    What ``prepare`` may add, one entry a row: ``scopes`` and ``conversations`` (where its ids mean the same, and which
    conversation it is of), ``own_blocks`` (blocks that its length covers, where ids of earlier rows precede them).
    """

    source: int
    rows: list[Any]
    lines: list[int]
    ids: np.ndarray
    ends: np.ndarray
    scopes: list[str] | None = None
    conversations: list[Any] | None = None
    own_blocks: list[int] | None = None

    def array(self, number: int) -> np.ndarray:
        return self.ids[self.ends[number] : self.ends[number + 1]]

    def part(self, rows: slice) -> Batch:
        """Some of the rows, over the same arrays."""
        return replace(
            self,
            rows=self.rows[rows],
            lines=self.lines[rows],
            scopes=self.scopes and self.scopes[rows],
            conversations=self.conversations and self.conversations[rows],
            own_blocks=self.own_blocks and self.own_blocks[rows],
        )


def parsed(text: bytes) -> Any:
    """The JSON value of ``text``: a full parser, exact in numbers of any size; BadDocument where it is none."""
    if not LONG_NUMBER.search(text):
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass  # the parser below also takes lone surrogates, NaN, and says what is wrong
    try:
        return json.loads(text.decode("utf-8"))
    except UnicodeDecodeError as error:
        return BadDocument(f"not UTF-8 text (byte {error.start + 1} of the line)")
    except RecursionError:
        return BadDocument("not readable as JSON: nested too deeply")
    except ValueError as error:
        return BadDocument(f"not JSON: {str(error).removesuffix(' (char 0)')}")


class Batches:
    """Iterates over the batches of one file.

    ``encode`` turns an id that is no plain int64 into its code; ``whole``: the file is one document.
    ``words``: ids are words of 64 bits, those from 2**63 on stand for themselves less 2**64.
    """

    def __init__(
        self,
        file: Opened,
        source: int,
        ids_key: str,
        nested: bool,
        encode: Callable[[Any], int],
        words: bool = False,
        chunk: int = CHUNK,
    ) -> None:
        self._file, self._source, self._ids_key, self._nested, self._encode = file, source, ids_key, nested, encode
        self._words = words
        self._key = np.frombuffer(ids_key.encode(), np.uint8)
        self._chunk = chunk
        self.bytes_read = 0

    def __iter__(self) -> Iterator[Batch]:
        buffer = np.zeros(self._chunk + PADDING, np.uint8)
        found = _room(self._chunk)
        held = line = 0  # bytes of an unfinished line at the start of the buffer; lines before it
        final = False
        first = True
        while not final or held:
            if held == len(buffer) - PADDING:  # one line longer than the buffer
                buffer = np.concatenate([buffer, np.zeros(len(buffer), np.uint8)])
                found = _room(len(buffer) - PADDING)
            while held < len(buffer) - PADDING and not final:
                got = self._file.readinto(memoryview(buffer)[held : len(buffer) - PADDING])  # type: ignore[arg-type]
                self.bytes_read += got
                held += got
                final = got == 0
            if first and held >= 3 and buffer[:3].tobytes() == b"\xef\xbb\xbf":
                buffer[:3] = 32  # a byte order mark
            first = False
            buffer[held] = 10
            used = int(scan(buffer, held, final, False, self._nested, self._words, self._key, found))
            yield from self._batch(buffer, found, line)
            line += int(found.filled[3])
            if used:
                buffer[: held - used] = buffer[used:held].copy()
                held -= used

    def whole(self) -> Iterator[Batch]:
        """The one batch of a file that is one document."""
        pieces = self._file.peek(1 << 62)
        self.bytes_read += len(pieces)
        text = pieces.removeprefix(b"\xef\xbb\xbf")
        buffer = np.frombuffer(text + b"\n" * PADDING, np.uint8)
        found = _room(len(text))
        scan(buffer, len(text), True, True, self._nested, self._words, self._key, found)
        yield from self._batch(buffer, found, 0)

    def _batch(self, buffer: np.ndarray, found: Found, line: int) -> Iterator[Batch]:
        n_documents, n_arrays, n_rest = (int(n) for n in found.filled[:3])
        if not n_documents:
            return
        documents = found.documents[:n_documents]
        lines = (documents[:, 2] + (line + 1)).tolist()
        odd: list[int] = []
        found.rest[n_rest - 1] = ord("]")
        try:
            rows = orjson.loads(memoryview(found.rest)[:n_rest])  # type: ignore[arg-type]
            odd = np.flatnonzero(documents[:, 3]).tolist()
        except orjson.JSONDecodeError:
            rows, odd = [None] * n_documents, list(range(n_documents))
        batch = Batch(self._source, rows, lines, found.ids, found.ends[: n_arrays + 1])
        if odd:
            self._parse_fully(batch, odd, buffer, documents)
        yield batch

    def _parse_fully(self, batch: Batch, odd: list[int], buffer: np.ndarray, documents: np.ndarray) -> None:
        arrays: list[np.ndarray] = []
        n_arrays = len(batch.ends) - 1
        for k in odd:
            value = parsed(buffer[documents[k, 0] : documents[k, 1]].tobytes())
            if isinstance(value, dict):
                for holder in _holders(value, self._ids_key, self._nested):
                    ids = self._coded(holder[self._ids_key])
                    if isinstance(ids, NotIds):
                        holder[self._ids_key] = ids
                    else:
                        holder[self._ids_key] = n_arrays + len(arrays)
                        arrays.append(ids)
            batch.rows[k] = value
        if arrays:
            ends = batch.ends[-1] + np.cumsum([len(ids) for ids in arrays])
            batch.ids = np.concatenate([batch.ids[: batch.ends[-1]], *arrays])
            batch.ends = np.concatenate([batch.ends, ends])

    def _coded(self, value: Any) -> np.ndarray | NotIds:
        if not isinstance(value, list):
            return NotIds("a list of block ids", value)
        for raw in value:
            if self._words and not (type(raw) is int and -(2**63) <= raw < 2**64):
                return NotIds("whole numbers of 64 bits", raw)
            if not (type(raw) is int or type(raw) is str):
                return NotIds("block ids that are whole numbers or strings", raw)
        if self._words:
            value = [raw - 2**64 if raw >= 2**63 else raw for raw in value]
        return np.array([self._encode(raw) for raw in value], np.int64)


def _holders(document: dict[str, Any], key: str, nested: bool) -> Iterator[dict[str, Any]]:
    """Every dict of the document that has ``key`` (only the document itself, unless ``nested``)."""
    waiting: list[Any] = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if nested:
                waiting += [v for k, v in value.items() if k != key]
            if key in value:
                yield value
        elif isinstance(value, list):
            waiting += value


def _room(n: int) -> Found:
    return Found(
        ids=np.empty(n // 2 + 2, np.int64),
        ends=np.empty(n // 5 + 3, np.int64),
        rest=np.empty(4 * n + 16, np.uint8),
        documents=np.empty((min(DOCUMENTS, n + 1), 4), np.int64),
        filled=np.zeros(4, np.int64),
    )
