"""Conversations as text: every prompt is tokenized, and each full block of its tokens is a block.

A block is the tokens in it and all before them, compared in full: its raw id is the bytes of those in it, four a token,
lowest first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.formats.format import Defaults, Json, Keys, Option, TraceFormat

if TYPE_CHECKING:
    from hitcurve.formats.batches import Batch

BLOCK_SIZE = 16
KEYS = Keys(ids="blocks of the prompt", time="time in ns", input_tokens="tokens of the prompt")  # prepare adds them
TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:\d\d)?", re.ASCII
)  # fmt: skip
WANTED_TIME = "a time like 2024-07-03 09:46:40.123456, from 1970 to 2261"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and "prompt_messages" in document


def nanoseconds(text: Any) -> int | None:
    """A written time as nanoseconds since 1970, exactly; None where it is none.  Without a zone it is taken as UTC.

    >>> nanoseconds("2024-07-03 09:46:40,000000001"), nanoseconds("2024-07-03T11:46:40+02:00")
    (1720000000000000001, 1720000000000000000)
    """
    parts = TIME.fullmatch(text) if type(text) is str else None
    if parts is None:
        return None
    day, clock, fraction, zone = parts.groups()
    try:
        moment = datetime.fromisoformat(f"{day}T{clock}{zone or 'Z'}")
    except ValueError:
        return None
    whole = (moment - EPOCH) // timedelta(seconds=1)
    found = whole * 1_000_000_000 + int((fraction or "0").ljust(9, "0"))
    return found if 0 <= found < 2**63 - 1 else None


def prepare(batch: Batch, memory: dict[str, Any]) -> None:
    """Put time, length and blocks into every row."""
    from hitcurve.formats.batches import BadDocument
    from hitcurve.formats.tokenizing import NotText, Prompts

    options: Mapping[str, Any] = memory["options"]
    if "prompts" not in memory:
        memory["prompts"] = _prompts(memory)
    prompts: Prompts = memory["prompts"]
    time_field, content_field = options.get("time_field", "time"), options.get("content_field", "prompt_messages")
    good, texts = [], []
    for k, row in enumerate(batch.rows):
        if type(row) is not dict:
            continue
        time_ns = nanoseconds(row.get(time_field))
        if time_ns is None:
            batch.rows[k] = BadDocument.of(time_field, WANTED_TIME, row.get(time_field))
            continue
        try:
            texts.append(prompts.text(row.get(content_field)))
        except NotText as problem:
            batch.rows[k] = BadDocument(f"{content_field}: {problem}")
            continue
        good.append(k)
        batch.rows[k] = {KEYS.time: time_ns}
    codes: list[int] = []
    ends = [0]
    size = memory["wish"].block_size or BLOCK_SIZE
    for k, tokens in zip(good, prompts.tokens(texts), strict=True):
        batch.rows[k] |= {KEYS.input_tokens: len(tokens), KEYS.ids: len(ends) - 1}
        content = np.array(tokens, "<u4").tobytes()
        whole = len(tokens) // size * size * 4
        codes += [memory["encode"](content[at : at + 4 * size]) for at in range(0, whole, 4 * size)]
        ends.append(len(codes))
    batch.ids, batch.ends = np.array(codes, np.int64), np.array(ends, np.int64)


def _prompts(memory: dict[str, Any]) -> Any:
    from hitcurve.formats.tokenizing import Prompts

    options = memory["options"]
    tokenizer, template = options.get("tokenizer"), options.get("template")
    if memory["wish"].time_unit is not None:
        raise BadParameter("the times of text conversations are written out: they have no unit")
    if not tokenizer:
        raise BadParameter("format text needs a tokenizer: --read tokenizer=FILE (a tokenizer.json, or its folder)")
    prompts = Prompts(tokenizer, template or None)
    joined = f"chat template {template}" if template else "messages put together as lines of role: content"
    memory["notes"].append(f"tokenized with {tokenizer}, {joined}")
    return prompts


TEXT = TraceFormat(
    name="text",
    title="conversations as text, with a tokenizer of your own",
    what="One request a line: when it came, and its prompt as text. The prompt is tokenized (--read tokenizer=FILE; "
    "pip install 'hitcurve[text]'), and every full block of its tokens is a block. Messages are put together as lines "
    "of role: content, or by a chat template in Jinja. Nothing is fetched, and no text is kept.",
    aliases=("conversations",),
    defaults=Defaults(
        block_size=BLOCK_SIZE, id_kind="block", id_scope="global", tail_rule="floor", time_unit="ns"
    ),
    sample='{"time": "2024-07-03 09:46:40.123456", "prompt_messages": {"messages": ['
    '{"role": "system", "content": "Answer briefly."}, {"role": "user", "content": "What is a prefix cache?"}]}}',
    fields=(
        ("time", "arrival, written out to the second or finer, with a point or a comma; UTC where it names no zone"),
        ("prompt_messages", "the prompt: a string, or messages with role and content"),
    ),
    options=(
        Option("tokenizer", "", "a tokenizer.json of Hugging Face's tokenizers, or the folder of one; required"),
        Option("template", "", "a chat template in Jinja, as a file"),
        Option("time_field", "time", "the key of the time"),
        Option("content_field", "prompt_messages", "the key of the prompt"),
    ),
    recognise=recognise,
    json=Json(keys=KEYS, required=("time", "input_tokens"), prepare=prepare, full_blocks=True),
)  # fmt: skip
