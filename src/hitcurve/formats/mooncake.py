"""Mooncake's JSON lines (FAST'25), and the variants of AIPerf and Dynamo.

Rows of a session may come without a time: then ``delay`` milliseconds lie between the row before it in its session and
this one.  (The tools that replay such traces wait for the answer first, and the time an answer takes is in no file; so
times made from delays are early by the time that answers took.)  A row that waits for others (``wait_for``) starts from
the latest of them.  Rows with such times are put into time order.

A delta row (``delta=yes``, or ``"message_mode": "delta"``) carries only what its turn adds.  Its prompt is rebuilt: the
blocks of the earlier turns of its session, each turn in whole blocks, then its own.  Answers of earlier turns have no
ids in the file, so they are not in the rebuilt prompt.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.formats.format import Defaults, Json, Keys, Option, TraceFormat, is_number, yes

if TYPE_CHECKING:
    from hitcurve.formats.batches import Batch
    from hitcurve.trace import Trace

KEYS = Keys(
    ids="hash_ids",
    time="timestamp",
    input_tokens="input_length",
    output_tokens="output_length",
    turn="turn",
    session="session_id",
    request_type="type",
    model="model",
    request_id="request_id",
    block_size="block_size",
)
WAITS = ("delay", "delay_ms", "tool_wait_ms")


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and "hash_ids" in document


def prepare(batch: Batch, memory: dict[str, Any]) -> None:
    rows = [row for row in batch.rows if type(row) is dict]
    if not memory.get("sorts") and any(row.get(wait) is not None for wait in WAITS for row in rows):
        memory["sorts"] = True
        memory["notes"].append("session rows without a time: that of the session's row before it, plus its delay")
    if memory.get("sorts"):
        add_delays(batch, memory)
    if "delta" not in memory:
        memory["delta"] = yes(memory["options"], "delta") or any(r.get("message_mode") == "delta" for r in rows)
        if memory["delta"]:
            memory["notes"].append("delta rows: prompts rebuilt from earlier turns, whose answers have no ids")
    if memory["delta"]:
        rebuild_prompts(batch, memory)


def add_delays(batch: Batch, memory: dict[str, Any]) -> None:
    """Give every row of a session a time."""
    from hitcurve.formats.batches import BadDocument

    of_session, of_request = memory.setdefault("of_session", {}), memory.setdefault("of_request", {})
    for k, row in enumerate(batch.rows):
        session = row.get("session_id") if type(row) is dict else None
        if type(session) not in (str, int):
            continue
        if row.get("timestamp") is None:
            waits = [row[name] for name in WAITS if row.get(name) is not None]
            bad = [w for w in waits if not is_number(w)]
            if bad:
                batch.rows[k] = BadDocument.of("delay", "a time in ms: a number >= 0", bad[0])
                continue
            others = row.get("wait_for")
            others = others if type(others) is list else [others]
            begun = [of_request[other] for other in others if type(other) is str and other in of_request]
            row["timestamp"] = max([of_session.get(session, 0), *begun]) + sum(waits)
        if is_number(row["timestamp"]):
            of_session[session] = row["timestamp"]
            if type(row.get("request_id")) is str:
                of_request[row["request_id"]] = row["timestamp"]


def rebuild_prompts(batch: Batch, memory: dict[str, Any]) -> None:
    """Put the blocks of earlier turns before those of every session row."""
    earlier: dict[Any, np.ndarray] = memory.setdefault("earlier", {})
    arrays: list[np.ndarray] = []
    batch.own_blocks = [0] * len(batch.rows)
    for k, row in enumerate(batch.rows):
        number = row.get("hash_ids") if type(row) is dict else None
        if type(number) is not int:
            continue
        ids = batch.array(number)
        batch.own_blocks[k] = len(ids)
        session = row.get("session_id")
        if type(session) in (str, int):
            if row.get("message_mode") != "history" and session in earlier:
                ids = np.concatenate([earlier[session], ids])
            earlier[session] = ids.copy()
        row["hash_ids"] = len(arrays)
        arrays.append(ids)
    batch.ids = np.concatenate(arrays) if arrays else batch.ids[:0]
    batch.ends = np.concatenate([[0], np.cumsum([len(ids) for ids in arrays], dtype=np.int64)])


def write(trace: Trace, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
    from hitcurve.formats.writing import in_unit, write_rows

    d = trace.definition
    columns: dict[str, Any] = {}
    if d.time_unit != "none":
        columns["timestamp"] = in_unit(trace.arrival_ns, "ms")
    columns |= {
        "session_id": trace.session, "turn": trace.turn, "request_id": trace.request_id, "type": trace.request_type,
        "model": trace.model, "input_length": trace.input_tokens, "output_length": trace.output_tokens,
    }  # fmt: skip
    if d.block_size not in (None, MOONCAKE.defaults.block_size):
        columns["block_size"] = np.full(trace.n_requests, d.block_size)
    write_rows(trace, path, columns, "hash_ids")


MOONCAKE = TraceFormat(
    name="mooncake",
    title="Mooncake FAST'25, and the variants of AIPerf and Dynamo",
    what="One request a line: arrival in milliseconds, lengths in tokens, and one id for each block of the prompt. "
    "An id stands for its block and all before it; the last block may be partly filled. Rows without a time get it "
    "from delays, delta rows get their whole prompt back.",
    aliases=("aiperf", "mooncake_trace", "dynamo"),
    defaults=Defaults(block_size=512, id_kind="prefix", id_scope="global", tail_rule="ceil", time_unit="ms"),
    sample='{"timestamp": 27482, "input_length": 1300, "output_length": 52, "hash_ids": [46, 47, 2353]}\n'
    '{"session_id": "s1", "delay": 2500, "input_length": 1410, "output_length": 80, "hash_ids": [46, 47, 2354]}',
    fields=(
        ("timestamp", "arrival in milliseconds; 0 is a time like others; may be absent from all rows"),
        ("input_length", "tokens of the prompt"),
        ("output_length", "tokens of the answer; may be absent"),
        (
            "hash_ids",
            "the blocks of the prompt from its start, numbers or strings; [] is a request without blocks",
        ),
        ("block_size", "tokens in a full block, if it is written in the rows; else 512 if it fits, or inferred"),
        ("session_id, turn", "the conversation and the place in it; may be absent"),
        ("delay, delay_ms", "for a session row without timestamp: milliseconds after the session's row before it"),
        ("tool_wait_ms, wait_for", "more milliseconds to wait; request ids whose times must have come"),
        ("message_mode", "delta: the row carries only what its turn adds; history: all of it"),
        ("request_id, type, model", "labels; may be absent"),
    ),
    options=(Option("delta", "no", "yes: every session row carries only what its turn adds (mooncake-delta)"),),
    recognise=recognise,
    json=Json(keys=KEYS, required=("input_tokens",), prepare=prepare),
    write=write,
)
