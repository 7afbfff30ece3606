"""Opening once for all formats: files, folders, patterns, several of them, ``-``; gzip and zstd by content.

A file is read front to back, in chunks, so standard input and pipes work like files.  Truncated or damaged compressed
data, a Git-LFS pointer, an empty file, a path that cannot be read: each is a TraceError.
"""

from __future__ import annotations

import glob
import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO

from hitcurve.errors import TraceError

Progress = Callable[[int, int, int | None], None]  # called as progress(rows so far, bytes so far, bytes in all or None)
Source = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

ENDINGS = (".json", ".jsonl", ".ndjson", ".parquet")
LFS = b"version https://git-lfs.github.com/spec/"
FOREIGN = {b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"PK\x03\x04": "zip", b"\x04\x22\x4d\x18": "lz4", b"7z\xbc\xaf": "7z"}
PIECE = 1 << 12  # compressed bytes handed to zstd at once: bounds what comes out (4 kB made 0.8 MB of agentic JSON)


class Opened:
    """One input file: ``name``, ``path`` (None for ``-``), and its bytes, decompressed, through ``readinto``.

    Opened at the first look at its bytes, so that a trace may have more files than a process may have open.
    ``position`` counts bytes taken from the disk, ``size`` is how many there are, or None where nobody knows (a pipe,
    and then ``position`` is 0).
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.name = "-" if path is None else str(path)
        self.size = path.stat().st_size if path is not None and path.is_file() else None
        self._raw: io.BufferedReader | None = None
        self._stream: IO[bytes] | None = None
        self._back = b""

    @property
    def compressed(self) -> bool:
        stream, raw = self._begun()
        return stream is not raw

    @property
    def position(self) -> int:
        return self._raw.tell() if self._raw is not None and self.size is not None else 0

    def readinto(self, room: memoryview) -> int:
        """Fill ``room`` from its start; the number of bytes written, 0 at the end.  TraceError on damaged data."""
        if self._back:
            n = min(len(self._back), len(room))
            room[:n], self._back = self._back[:n], self._back[n:]
            return n
        stream, _ = self._begun()
        try:
            return stream.readinto(room) or 0  # type: ignore[attr-defined]
        except EOFError as error:
            raise TraceError(self.name, reason="the compressed data ends too early: the file is truncated") from error
        except (OSError, zlib.error, _ZstdDamaged) as error:
            raise TraceError(self.name, reason=f"cannot be read: {str(error) or type(error).__name__}") from error

    def peek(self, wanted: int) -> bytes:
        """At least ``wanted`` bytes from here (fewer at the end), that will be read again."""
        pieces, n = [self._back], len(self._back)
        self._back = b""
        room = memoryview(bytearray(1 << 16))
        while n < wanted and (got := self.readinto(room)):
            pieces.append(bytes(room[:got]))
            n += got
        self._back = b"".join(pieces)
        return self._back

    def close(self) -> None:
        if self._raw is not None and self._stream is not None:
            if self.path is None:
                self._raw.detach()  # standard input stays open
            else:
                self._stream.close()
                self._raw.close()
        self._raw = self._stream = None

    def _begun(self) -> tuple[IO[bytes], io.BufferedReader]:
        if self._raw is None or self._stream is None:
            try:
                self._raw = (
                    io.BufferedReader(sys.stdin.buffer)  # type: ignore[arg-type]
                    if self.path is None
                    else io.BufferedReader(io.FileIO(self.path), 1 << 18)
                )
                self._stream = self._raw
                head = self._raw.peek(64)[:64]
            except OSError as error:
                raise TraceError(self.name, reason=error.strerror or str(error)) from error
            self._stream = self._unpacking(self._raw, head)
        return self._stream, self._raw

    def _unpacking(self, raw: io.BufferedReader, head: bytes) -> IO[bytes]:
        if not head:
            raise TraceError(self.name, reason="the file is empty")
        if head.startswith(LFS):
            raise TraceError(self.name, reason="a Git-LFS pointer, not the data itself: fetch it with `git lfs pull`")
        for magic, what in FOREIGN.items():
            if head.startswith(magic):
                raise TraceError(self.name, reason=f"is {what} data; only gzip and zstd are undone here")
        if head.startswith(b"\x1f\x8b"):
            return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
        if head.startswith(b"\x28\xb5\x2f\xfd") or (head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5):
            return io.BufferedReader(_Zstd(raw), 1 << 18)
        return raw


class _ZstdDamaged(Exception):
    pass


class _Zstd(io.RawIOBase):
    """zstd frames, one after another; EOFError where the last one is cut short."""

    def __init__(self, raw: IO[bytes]) -> None:
        import zstandard

        self._raw = raw
        self._error = zstandard.ZstdError
        self._new = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj
        self._frame = self._new()
        self._fresh = True  # between frames
        self._out = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: memoryview) -> int:  # type: ignore[override]
        while not self._out:
            piece = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame, self._fresh = self._new(), True
            piece = piece or self._raw.read(PIECE)
            if not piece:
                if self._fresh:
                    return 0
                raise EOFError
            self._fresh = False
            try:
                self._out = memoryview(self._frame.decompress(piece))
            except self._error as error:
                raise _ZstdDamaged(str(error)) from error
        n = min(len(room), len(self._out))
        room[:n], self._out = self._out[:n], self._out[n:]
        return n


def paths_of(source: Source) -> tuple[list[Path | None], list[str]]:
    """The files that ``source`` names, in order (None: standard input), and notes on what was left out."""
    if isinstance(source, (str, os.PathLike)):
        return _paths_of_one(os.fspath(source))
    paths: list[Path | None] = []
    notes: list[str] = []
    for one in source:
        more, said = _paths_of_one(os.fspath(one))
        paths += more
        notes += said
    if not paths:
        raise TraceError("-", reason="no file to read was given")
    return paths, notes


def _paths_of_one(source: str) -> tuple[list[Path | None], list[str]]:
    if source == "-":
        return [None], []
    if not source:
        raise TraceError("-", reason="the name of the file to read is empty")
    path = Path(source)
    if path.is_dir():
        return _folder(path)
    if not path.exists() and any(c in source for c in "*?["):
        found = sorted(p for p in glob.glob(source, recursive=True) if not Path(p).is_dir())
        if not found:
            raise TraceError(source, reason="no file matches this pattern")
        return [Path(p) for p in found], []
    return [path], []


def _folder(folder: Path) -> tuple[list[Path | None], list[str]]:
    """All trace files below a folder, by name; what has another ending is left out, and said."""
    files = sorted(
        p
        for p in folder.rglob("*")
        if p.is_file() and not any(part.startswith(".") for part in p.relative_to(folder).parts)
    )
    chosen = [p for p in files if p.name.removesuffix(".gz").removesuffix(".zst").endswith(ENDINGS)]
    if not chosen:
        raise TraceError(folder, reason=f"no file here ends in {', '.join(ENDINGS)} (or those with .gz or .zst)")
    others = len(files) - len(chosen)
    notes = [f"{folder}: {others} file(s) with other endings than {', '.join(ENDINGS)} were not read"] if others else []
    return list(chosen), notes
