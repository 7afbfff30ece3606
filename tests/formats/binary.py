"""Files of the binary formats that are read but not written, by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence


def lcsllm_file() -> bytes:
    """Two requests of a chat, the second going on from the first; 64 tokens a block."""
    requests = [(5, -1, 1_000, [11, 12]), (6, 5, 2_000, [11, 12, 13])]
    head = struct.pack("<QQqqqqqqiBBBB", 0x6C63736C6C6D0001, 1, 2, 5, 3, 3, 1_000, 2_000, 64, 1, 1, 1, 0)
    head += b"chat".ljust(16, b"\0") + bytes(7 * 16 + 998 * 8) + struct.pack("<Q", 0x6C63736C6C6D0001)
    body = b""
    for chat, parent, time, ids in requests:
        body += struct.pack("<QqqIIIIB7x", chat, parent, time, len(ids), 64 * len(ids), 3, 1, 0)
        body += b"".join(struct.pack("<Qq", block, -1) for block in ids)
    return head + body


def oracle_general_file(ids: Sequence[int]) -> bytes:
    """One record a second for each id."""
    return b"".join(struct.pack("<IQIq", time, raw, 1, -1) for time, raw in enumerate(ids))
