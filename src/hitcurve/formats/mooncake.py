"""Mooncake's JSON lines (FAST'25), and the variants of AIPerf and Dynamo."""

from __future__ import annotations

from typing import Any

from hitcurve.formats.format import Defaults, Json, Keys, TraceFormat

KEYS = Keys(
    ids="hash_ids",
    time="timestamp",
    input_tokens="input_length",
    output_tokens="output_length",
    turn="turn",
    session="session_id",
    request_id="request_id",
    request_type="type",
    model="model",
    block_size="block_size",
)


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and "hash_ids" in document


MOONCAKE = TraceFormat(
    name="mooncake",
    title="Mooncake FAST'25 and its variants (AIPerf, Dynamo)",
    what="One request a line: arrival in milliseconds, lengths in tokens, and one id for each block of the prompt.",
    defaults=Defaults(block_size=512, id_kind="prefix", id_scope="global", tail_rule="ceil", time_unit="ms"),
    sample='{"timestamp": 27482, "input_length": 1300, "output_length": 52, "hash_ids": [46, 47, 2353]}',
    fields=(),
    recognise=recognise,
    json=Json(keys=KEYS, required=("input_tokens",)),
)
