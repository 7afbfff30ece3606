"""Qwen-Bailian's JSON lines: one request a row, one id a block of 16 tokens, conversations told by their parents.

An id stands for the content of one block, whatever stands before it (id kind ``block``): under identity ``prefix`` a
block is still its whole path, which is what an engine's prefix cache compares.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.formats.format import Defaults, Json, Keys, TraceFormat

if TYPE_CHECKING:
    from hitcurve.formats.batches import Batch
    from hitcurve.trace import Trace

ROOT = "root of chat_id"  # key of the session that prepare adds: the first chat of the conversation
KEYS = Keys(
    ids="hash_ids",
    time="timestamp",
    input_tokens="input_length",
    output_tokens="output_length",
    turn="turn",
    session=ROOT,
    request_type="type",
    request_id="chat_id",
)


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and "hash_ids" in document and "chat_id" in document


def prepare(batch: Batch, memory: dict[str, Any]) -> None:
    """Follow parents to the first chat: that is the session."""
    roots: dict[Any, Any] = memory.setdefault("roots", {})
    for row in batch.rows:
        if type(row) is not dict:
            continue
        chat, parent = row.get("chat_id"), row.get("parent_chat_id")
        if type(chat) not in (int, str):
            continue
        has_parent = type(parent) in (int, str) and parent != -1
        roots[chat] = row[ROOT] = roots.get(parent, parent) if has_parent else chat


def write(trace: Trace, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
    from hitcurve.formats.writing import in_unit, previous_in_session, write_rows

    n = trace.n_requests
    columns = {
        "chat_id": np.arange(n),
        "parent_chat_id": previous_in_session(trace) if trace.session is not None else np.full(n, -1),
        "timestamp": in_unit(trace.arrival_ns, "s"),
        "input_length": trace.input_tokens,
        "output_length": trace.output_tokens,
        "type": trace.request_type,
        "turn": trace.turn,
    }
    write_rows(trace, path, columns, "hash_ids")


BAILIAN = TraceFormat(
    name="bailian",
    title="Qwen-Bailian",
    what="One request a line, as published for Alibaba's model service: arrival in seconds, lengths in tokens, and one "
    "id for each block of the prompt, a partial last one included. An id stands for the content of its block alone. A "
    "session is all chats with the same first ancestor.",
    aliases=("qwen", "qwen-bailian"),
    defaults=Defaults(block_size=16, id_kind="block", id_scope="global", tail_rule="ceil", time_unit="s"),
    sample='{"chat_id": 159, "parent_chat_id": 55, "timestamp": 61.114, "input_length": 40, "output_length": 80, '
    '"type": "text", "turn": 2, "hash_ids": [1089, 1090, 6326]}',
    fields=(
        ("chat_id", "this request"),
        ("parent_chat_id", "the request that this one goes on from, or -1"),
        ("timestamp", "arrival in seconds"),
        ("input_length", "tokens of the prompt"),
        ("output_length", "tokens of the answer"),
        ("type", "text, search, image, file: the request type"),
        ("turn", "place in the conversation, from 1"),
        ("hash_ids", "the blocks of the prompt from its start; equal content has an equal id wherever it stands"),
    ),
    recognise=recognise,
    json=Json(keys=KEYS, required=("time", "input_tokens"), prepare=prepare),
    write=write,
)
