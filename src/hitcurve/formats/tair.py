"""Tair's optimizer trace rows, which LiteHit reads: one JSON object an event, of which reads are requests.

Each instance is a namespace (the column ``tenant``): a key means the same within one instance only, as each has a cache
of its own.  Writes are checked like all rows, and left out: a read stands for its blocks being written back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.formats.format import Defaults, Json, Keys, Option, TraceFormat
from hitcurve.formats.tair_rows import BLOCK_SIZE, TairRows, check_order, checked_fields, tair_rows
from hitcurve.formats.tair_writing import write

if TYPE_CHECKING:
    from hitcurve.formats.batches import Batch

__all__ = ["TAIR", "TairRows", "tair_rows"]

KEYS = Keys(
    ids="keys", time="timestamp_ns", input_tokens="input_len", tenant="instance_id", request_id="trace_id"
)  # fmt: skip
NAMES = {"instance_id", "timestamp_ns", "query_type", "block_mask"}


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and "keys" in document and not NAMES.isdisjoint(document)


def prepare(batch: Batch, memory: dict[str, Any]) -> None:
    """Put what is wrong in place of bad rows, and leave writes out."""
    from hitcurve.formats.batches import BadDocument

    fields, problems = checked_fields(batch)
    if not memory["sort"]:
        memory["latest"] = check_order(fields, memory.get("latest", 0), problems)
    for row, problem in problems.items():
        batch.rows[row] = BadDocument(problem) if isinstance(problem, str) else BadDocument.of(*problem)
    left_out = fields.is_write.copy()
    left_out[list(problems)] = False
    if left_out.any():
        if not memory.get("writes told"):
            memory["writes told"] = True
            memory["notes"].append("write rows left out: a read stands for its blocks being written back")
        kept = np.flatnonzero(~left_out).tolist()
        batch.rows, batch.lines = [batch.rows[row] for row in kept], [batch.lines[row] for row in kept]


TAIR = TraceFormat(
    name="tair",
    title="Tair optimizer trace rows, for LiteHit",
    what="One event a line, as Tair's KV cache manager records them and LiteHit reads them. get and request are "
    "requests; write rows are checked and left out. Keys stand for full blocks and all before them, none for a partial "
    "last block; where they are hashes of single blocks (enable_prefix_hash), say so: --id-kind block. An instance is "
    "a namespace, shown as tenant: hitcurve curve puts all instances into one cache, where they share no block; "
    "hitcurve facts gives each a cache of its own.",
    aliases=("litehit", "optimizer"),
    defaults=Defaults(block_size=BLOCK_SIZE, id_kind="prefix", id_scope="global", tail_rule="floor", time_unit="ns"),
    sample='{"type": "get", "instance_id": "chat", "trace_id": "r1", "timestamp_ns": 1720000000000000000, '
    '"input_len": 600, "keys": [-7046029254386353130, 10080296316876711878], "tokens": [], '
    '"query_type": "prefix_match", "block_mask": 0, "sw_size": 0, "location_spec_names": []}\n'
    '{"type": "write", "instance_id": "chat", "timestamp_ns": 1720000000350000000, "ttl_us": 0, '
    '"keys": [-7046029254386353130, -8366447756632839738]}',
    fields=(
        ("type", "get, request (a read, and the write that follows it), or write"),
        ("instance_id", "the instance whose cache is asked: the tenant"),
        ("trace_id", "name of the request; may be absent"),
        ("timestamp_ns", "arrival in nanoseconds, > 0; never earlier than in the row before, writes included"),
        ("input_len", "tokens of the prompt, > 0; writes need none"),
        ("keys", "full blocks of the prompt from its start: input_len // block size numbers from -2^63 to 2^64 - 1, "
         "where 2^63 and more stand for themselves less 2^64"),
        ("tokens, query_type, block_mask", "checked, and not used: whole numbers; a name; which blocks were there "
         "already, as a list of true and false or a count"),
        ("sw_size, location_spec_names", "checked, and not used: a whole number of 32 bits; a list of names"),
        ("ttl_us", "checked, and not used: microseconds to live; 0: as the group says, -1: for ever"),
    ),
    recognise=recognise,
    json=Json(keys=KEYS, required=("time", "input_tokens"), prepare=prepare, words=True, full_blocks=True),
    write=write,
    write_options=(
        Option("type", "request", "type of the rows: request, or get (which Tair's full replay never writes back)"),
        Option("instance_id", "instance", "instance of the requests without a tenant"),
    ),
)  # fmt: skip
