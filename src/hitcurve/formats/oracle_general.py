"""libCacheSim's oracleGeneral records, and PrefixSim's flat file of the same shape: one block a request (read)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hitcurve.errors import TraceError
from hitcurve.formats.format import Defaults, TraceFormat, Wish

if TYPE_CHECKING:
    from hitcurve.formats.opening import Opened
    from hitcurve.trace import Trace

RECORD = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
assert RECORD.itemsize == 24


def _recognise(document: object, start: bytes) -> bool:
    """No magic: 24-byte records whose times never step back and whose next accesses lie ahead, or nowhere."""
    records = np.frombuffer(start[: len(start) // 24 * 24], RECORD)
    if document is not None or len(records) < 1 or (len(records) == 1 and len(start) != 24):
        return False
    following = records["next"]
    ahead = (following < 0) | ((following > np.arange(1, len(records) + 1)) & (following < 2**48))  # text is beyond it
    return bool(ahead.all() and (following >= -2).all() and (np.diff(records["time"].astype(np.int64)) >= 0).all())


def _read(files: list[Opened], wish: Wish) -> Trace:
    from hitcurve.formats.rows import BATCH, Rows

    rows = Rows(ORACLE_GENERAL, files, wish)
    rows.notes.append("one block a request: the file has no request structure, so only block hits mean anything")
    room = bytearray(24 * BATCH)
    for source, file in enumerate(files):
        held = 0
        while not rows.full:
            got = file.readinto(memoryview(room)[held:])
            held += got
            if not got or held == len(room):
                n = held // 24
                if not got and held % 24:
                    raise TraceError(file.name, reason=f"{held % 24} bytes are left after the last record of 24 bytes")
                records = np.frombuffer(bytes(memoryview(room)[: 24 * n]), RECORD)
                if wish.head is not None and not wish.sort:
                    records = records[: wish.head - rows.n_rows]
                rows.add_single_blocks(source, records["id"], records["time"].astype(np.int64) * 1_000_000_000)
                held = 0
                if not got:
                    break
    return rows.trace()


ORACLE_GENERAL = TraceFormat(
    name="oracle-general",
    aliases=("oracleGeneral", "lcsllm-flat"),
    title="libCacheSim's oracleGeneral, PrefixSim's flat records",
    what="One packed record of 24 bytes an access, no requests: every access becomes a request of one block.",
    defaults=Defaults(block_size=None, id_kind="block", id_scope="global", tail_rule="floor", time_unit="s"),
    sample="",
    fields=(
        ("time", "seconds (u32)"),
        ("id", "object, here a block (u64)"),
        ("size", "bytes in oracleGeneral, cost in the flat file; not used (u32)"),
        ("next", "number of the next access, from 1; -1: never; not used, worked out anew (i64)"),
    ),
    recognise=_recognise,
    read=_read,
)
