"""PrefixSim's binary trace files: a header of 8192 bytes, then for each request a record and its block entries.

    ┌────────────────────────────────┐
    │ header                  8192 B │  once
    ├────────────────────────────────┤
    │ request record       68 or 48 B│ ┐
    │ block entry     16 B x n_blocks│ ┘ a request, as often as the header says
    └────────────────────────────────┘

Little-endian and packed; nothing points anywhere, so a file is read and written front to back, through zstd as well.
The layouts stand in the tables below and nowhere else; ``docs/prefixsim-files.md`` is made from them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

HEADER_BYTES, ENTRY_BYTES = 8192, 16
UNKNOWN = 2**32 - 1  # in a u32 field of a request record

ENTRY = np.dtype([("block_id", "<u8"), ("next_access", "<i8")])


@dataclass(frozen=True)
class Field:
    """``name``, struct code ``kind``, and ``what`` it says, in one line."""

    name: str
    kind: str
    what: str


@dataclass(frozen=True)
class Layout:
    """One version of the files: ``magic`` at both ends of the header, ``header`` and ``record`` field by field."""

    name: str
    magic: int
    version: int
    type_bytes: int  # of a type name in the header
    most_types: int
    header: tuple[Field, ...]
    record: tuple[Field, ...]

    @property
    def header_struct(self) -> struct.Struct:
        return struct.Struct("<" + "".join(field.kind for field in self.header))

    @property
    def record_struct(self) -> struct.Struct:
        return struct.Struct("<" + "".join(field.kind for field in self.record))


def offsets(fields: tuple[Field, ...]) -> list[int]:
    """Byte offset of each field."""
    sizes = [struct.calcsize("<" + field.kind) for field in fields]
    return [sum(sizes[:k]) for k in range(len(sizes))]


def _header(type_bytes: int, most_types: int, flags: Field) -> tuple[Field, ...]:
    names = type_bytes * most_types
    return (
        Field("start_magic", "Q", "the layout's magic"),
        Field("version", "Q", "the layout's version"),
        Field("n_requests", "q", "requests in the file"),
        Field("n_blocks", "q", "block entries of all requests together"),
        Field("n_unique_blocks", "q", "distinct block ids"),
        Field("max_blocks_per_request", "q", "entries of the longest request"),
        Field("start_time_us", "q", "time of the first request, microseconds"),
        Field("end_time_us", "q", "time of the last request, microseconds"),
        Field("block_size_tokens", "i", "tokens in a full block, 0: unknown"),
        Field("block_id_kind", "B", "1: an id is the whole path (nothing else is read)"),
        Field("has_next_access", "B", "1: entries tell the next access"),
        Field("n_types", "B", "request types with a name"),
        flags,
        Field("type_names", f"{names}s", f"{most_types} names of {type_bytes} bytes, zero padded UTF-8"),
        Field("zero", f"{HEADER_BYTES - 8 - 72 - names}s", "zero"),
        Field("end_magic", "Q", "the magic again"),
    )


LCP = Layout(
    name="lcp",
    magic=0x0002_7063_6C74_6968,
    version=1,
    type_bytes=24,
    most_types=255,
    header=_header(24, 255, Field("zero_byte", "B", "zero")),
    record=(
        Field("start_time_us", "q", "arrival, microseconds"),
        Field("complete_time_us", "q", "when the blocks become reusable; requests stand in its order"),
        Field("chat_id", "q", "number of the request, its row where it has none"),
        Field("parent_chat_id", "q", "chat_id of the session's request before, -1: none"),
        Field("session_next_req", "q", "number of the session's next request, counted from 1 in the file, -1: never"),
        Field("session_id", "q", "number of the session, 0: none"),
        Field("n_blocks", "I", "entries that follow"),
        Field("input_length", "I", "prompt tokens, 2^32 - 1: unknown"),
        Field("output_length", "I", "output tokens, 2^32 - 1: unknown"),
        Field("turn", "I", "turn in the session, 2^32 - 1: unknown"),
        Field("type_id", "I", "0: no type, k: the k-th type name"),
    ),
)

LCSLLM = Layout(
    name="lcsllm",
    magic=0x6C63_736C_6C6D_0001,
    version=1,
    type_bytes=16,
    most_types=8,
    header=_header(16, 8, Field("zero_byte", "B", "zero")),
    record=(
        Field("chat_id", "Q", "number of the request"),
        Field("parent_chat_id", "q", "chat_id of the request before, -1: none"),
        Field("timestamp_us", "q", "arrival, microseconds"),
        Field("n_blocks", "I", "entries that follow"),
        Field("input_length", "I", "prompt tokens"),
        Field("output_length", "I", "output tokens"),
        Field("turn", "I", "turn in the session"),
        Field("type_id", "B", "number of the type name, from 0"),
        Field("zero", "7s", "zero"),
    ),
)


def has_magic(layout: Layout, start: bytes) -> bool:
    return start[:8] == struct.pack("<Q", layout.magic)
