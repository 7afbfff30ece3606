"""JSON lines with keys of any name: ``fields`` says which key holds which column of the trace."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter, UnknownName
from hitcurve.formats.format import Defaults, Json, Keys, Option, TraceFormat

if TYPE_CHECKING:
    from hitcurve.trace import Trace

KEYS = Keys(
    ids="ids",
    time="arrival_ns",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    completion="completion_ns",
    turn="turn",
    session="session",
    parent_session="parent_session",
    request_type="request_type",
    tenant="tenant",
    model="model",
    request_id="request_id",
    block_size="block_size",
)


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and type(document.get(KEYS.ids)) is list


def choose_keys(options: Mapping[str, Any]) -> Keys:
    """``KEYS`` with the names that the option ``fields`` gives: a dict, or text like ``ids=blocks,time=ts``."""
    given = options.get("fields", {})
    if isinstance(given, str):
        given = dict(pair.partition("=")[::2] for pair in given.split(","))
    if not isinstance(given, Mapping):
        raise BadParameter(f"fields: wanted a dict of column and key, found {given!r}")
    known = list(asdict(KEYS))
    for column, key in given.items():
        if column not in known:
            raise UnknownName("field", str(column), known)
        if type(key) is not str or not key:
            raise BadParameter(f"fields: wanted the name of a key for {column}, found {key!r}")
    return replace(KEYS, **given)


def write(trace: Trace, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
    from hitcurve.formats.writing import write_rows

    d = trace.definition
    columns = {
        "arrival_ns": trace.arrival_ns if d.time_unit != "none" else None,
        "completion_ns": trace.completion_ns,
        "tenant": trace.tenant,
        "session": trace.session,
        "parent_session": trace.parent_session,
        "turn": trace.turn,
        "request_type": trace.request_type,
        "model": trace.model,
        "request_id": trace.request_id,
        "input_tokens": trace.input_tokens,
        "output_tokens": trace.output_tokens,
        "block_size": None if d.block_size is None else np.full(trace.n_requests, d.block_size),
    }
    write_rows(trace, path, columns, "ids")


JSONL = TraceFormat(
    name="jsonl",
    title="JSON lines with keys of your own",
    what="One request a line. The keys below are the default, and what hitcurve writes; fields names others "
    "(--field ids=block_hashes --field time=ts). All but the ids may be absent. The unit of times is the ending of "
    "their key (_s, _ms, _us, _ns), or seconds where it has none.",
    aliases=("json", "generic"),
    defaults=Defaults(block_size=None, id_kind="prefix", id_scope="global", tail_rule="floor", time_unit=None),
    sample='{"arrival_ns": 27482000000, "session": "s1", "turn": 1, "input_tokens": 1300, "output_tokens": 52, '
    '"block_size": 512, "ids": [46, 47, "a3f0"]}',
    fields=(
        (
            "ids",
            'the blocks of the prompt from its start: whole numbers of any size, or strings; 1 and "1" are two ids',
        ),
        ("arrival_ns", "field time: arrival, in the unit that the key's ending names"),
        ("input_tokens, output_tokens", "tokens of the prompt and of the answer"),
        ("completion_ns", "field completion: when the blocks can be reused, in the unit of time"),
        ("tenant", "ids of two tenants never meet"),
        ("session, parent_session, turn", "the conversation, the one it was started from, the place in it"),
        ("request_type, model, request_id", "labels"),
        ("block_size", "tokens in a full block, the same in all rows; else inferred from lengths and id counts"),
    ),
    options=(Option("fields", "", "which key holds which column: ids=KEY,time=KEY,input_tokens=KEY ..."),),
    recognise=recognise,
    json=Json(keys=KEYS, choose_keys=choose_keys),
    write=write,
)
