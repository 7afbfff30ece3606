"""Reading PrefixSim's binary files, front to back, one request at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hitcurve.errors import TraceError
from hitcurve.formats.format import TraceFormat, Wish
from hitcurve.formats.opening import Opened
from hitcurve.formats.prefixsim import ENTRY, ENTRY_BYTES, HEADER_BYTES, UNKNOWN, Layout
from hitcurve.formats.rows import Rows
from hitcurve.trace import Trace

LATEST_US = (2**63 - 1) // 1000  # the last microsecond that is an int64 of nanoseconds


def read_header(file: Opened, layout: Layout) -> dict[str, int | bytes]:
    """The header's fields; TraceError for a foreign magic, another version, an id kind that is not the path."""
    text = _exactly(file, HEADER_BYTES, f"a {layout.name} header")
    values = dict(zip((f.name for f in layout.header), layout.header_struct.unpack(text), strict=True))
    for end in ("start_magic", "end_magic"):
        if values[end] != layout.magic:
            raise TraceError(file.name, field=end, wanted=f"{layout.magic:#018x}", found=f"{values[end]:#018x}")
    if values["version"] != layout.version:
        raise TraceError(file.name, field="version", wanted=str(layout.version), found=values["version"])
    if values["block_id_kind"] != 1:
        raise TraceError(file.name, field="block_id_kind", wanted="1 (whole paths)", found=values["block_id_kind"])
    for name in ("n_requests", "n_blocks", "block_size_tokens"):
        if values[name] < 0:
            raise TraceError(file.name, field=name, wanted=">= 0", found=values[name])
    return values


def read_requests(file: Opened, layout: Layout, n_requests: int) -> Iterator[tuple[tuple[int, ...], np.ndarray]]:
    """Each request's record, and its block ids (uint64, valid until the next one)."""
    record = layout.record_struct
    at_blocks = [field.name for field in layout.record].index("n_blocks")
    buffer = bytearray(1 << 20)
    held = used = 0

    def more(wanted: int, r: int) -> None:
        nonlocal buffer, held, used
        left = held - used
        buffer[:left] = buffer[used:held]
        held, used = left, 0
        while held < wanted:
            if held == len(buffer):  # grows with what is there, not with what a damaged record asks for
                buffer = buffer + bytes(len(buffer))
            got = file.readinto(memoryview(buffer)[held:])
            if not got:
                raise TraceError(file.name, reason=f"ends inside request {r + 1} of {n_requests}: truncated")
            held += got

    for r in range(n_requests):
        if held - used < record.size:
            more(record.size, r)
        fields = record.unpack_from(buffer, used)
        size = record.size + ENTRY_BYTES * fields[at_blocks]
        if held - used < size:
            more(size, r)
        entries = np.frombuffer(bytes(memoryview(buffer)[used + record.size : used + size]), ENTRY)
        used += size
        yield fields, entries["block_id"]
    if held > used or file.readinto(memoryview(bytearray(1))):
        raise TraceError(file.name, reason=f"goes on after its {n_requests} requests")


def read(format: TraceFormat, layout: Layout, files: list[Opened], wish: Wish) -> Trace:
    """The trace in ``files``, in that order, in one numbering; the request times as the layout has them."""
    rows = Rows(format, files, wish)
    names = [field.name for field in layout.record]
    sessions = 1 if "session_id" in names else 0
    for source, file in enumerate(files):
        header = read_header(file, layout)
        rows.block_size(source, int(header["block_size_tokens"]) or None)
        types = _type_names(header, layout)
        for r, (values, ids) in enumerate(read_requests(file, layout, int(header["n_requests"]))):
            if rows.full:
                break
            row = dict(zip(names, values, strict=True))
            for name in ("start_time_us", "timestamp_us", "complete_time_us"):
                if not 0 <= row.get(name, 0) <= LATEST_US:
                    raise TraceError(file.name, r + 1, field=name, wanted=f"0 to {LATEST_US}", found=row[name])
            start = row.get("start_time_us", row.get("timestamp_us", 0))
            kind = row["type_id"] - sessions  # lcp counts types from 1
            if not -1 <= kind < len(types):
                raise TraceError(
                    file.name, r + 1, field="type_id", wanted=f"below {len(types) + sessions}", found=row["type_id"]
                )
            rows.add(
                source,
                r,
                ids,
                time=1000 * start,
                completion=1000 * row["complete_time_us"] if sessions else -1,
                input_tokens=_known(row["input_length"]),
                output_tokens=_known(row["output_length"]),
                turn=_known(row["turn"]),
                request_id=str(row["chat_id"]),
                session=str(row["session_id"]) if row.get("session_id") else None,
                request_type=types[kind] if kind >= 0 else None,
            )
    return rows.trace()


def _known(value: int) -> int:
    return -1 if value == UNKNOWN else value


def _type_names(header: dict[str, int | bytes], layout: Layout) -> list[str]:
    width, text = layout.type_bytes, bytes(header["type_names"])
    names = [text[k * width : (k + 1) * width].rstrip(b"\0") for k in range(int(header["n_types"]))]
    return [name.decode("utf-8", "replace") for name in names]


def _exactly(file: Opened, n: int, what: str) -> bytes:
    room = bytearray(n)
    held = 0
    with memoryview(room) as view:
        while held < n:
            got = file.readinto(view[held:])
            if not got:
                raise TraceError(file.name, reason=f"ends inside {what}: truncated")
            held += got
    return bytes(room)
