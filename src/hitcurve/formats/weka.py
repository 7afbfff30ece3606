"""kv-cache-tester's conversations (WEKA): one JSON object each, a file of its own or a line; sub-agents inside.

A sub-agent stands in its parent's list of requests, and its own times start at 0: a request of it arrives at the
parent's time plus its own.  Conversations all start at 0 (``spacing`` moves them apart), so rows of several are put
into time order; within one list, a step back in time is an error.

Ids mean the same within one conversation, sub-agents included (``hash_id_scope`` local), or in all of them (global).
Where the file does not say, local is assumed: it never makes up hits.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hitcurve.errors import BadParameter
from hitcurve.formats.format import Defaults, Json, Keys, Option, TraceFormat, is_number

if TYPE_CHECKING:
    from hitcurve.formats.batches import BadDocument, Batch

KEYS = Keys(
    ids="hash_ids",
    time="t",
    input_tokens="in",
    output_tokens="out",
    completion="completion",
    turn="turn",
    session="session",
    parent_session="parent_session",
    request_type="type",
    model="model",
    block_size="block_size",
)
COPIED = ("hash_ids", "in", "out", "type", "model")
SCOPES = {"local": "conversation", "global": "global"}
DEEPEST = 100  # sub-agents within sub-agents


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and type(document.get("requests")) is list and "hash_ids" not in document


def prepare(batch: Batch, memory: dict[str, Any]) -> None:
    from hitcurve.formats.batches import BadDocument

    rows: list[Any] = []
    lines: list[int] = []
    batch.scopes, batch.conversations = [], []
    for document, line in zip(batch.rows, batch.lines, strict=True):
        number = memory["conversations"] = memory.get("conversations", -1) + 1
        scope: str | None = "conversation"
        if type(document) is not dict:
            found: list[Any] = [document]
        elif (scope := _scope(document, memory)) is None:
            found = [BadDocument.of("hash_id_scope", "local or global", document["hash_id_scope"])]
        else:
            found = list(_requests(document, number * _spacing(memory), memory))
        rows += found
        lines += [line] * len(found)
        batch.scopes += [scope or "conversation"] * len(found)
        batch.conversations += [number] * len(found)
    batch.rows, batch.lines = rows, lines


def _requests(document: dict[str, Any], start: float, memory: dict[str, Any]) -> Iterator[dict[str, Any] | BadDocument]:
    """The rows of one conversation, sub-agents in their places."""
    from hitcurve.formats.batches import BadDocument

    name = document.get("id")
    name = name if type(name) is str else f"conversation {memory['conversations']}"
    size = document.get("block_size")
    # the lists being walked, innermost last: (requests left, their start, session, parent, requests so far, latest t)
    walks: list[list[Any]] = [[document.get("requests"), start, name, None, 0, 0.0]]
    if type(walks[0][0]) is not list:
        yield BadDocument.of("requests", "a list of requests", walks[0][0])
        return
    walks[0][0] = iter(walks[0][0])
    while walks:
        walk = walks[-1]
        entry = next(walk[0], None)
        if entry is None:
            walks.pop()
            continue
        if type(entry) is not dict:
            yield BadDocument.of("requests", "a list of JSON objects", entry)
            continue
        t = entry.get("t")
        if not is_number(t):
            yield BadDocument.of("t", "a time in seconds: a number >= 0", t)
            continue
        if t < walk[5] and not memory["sort"]:
            yield BadDocument.of("t", f">= {walk[5]:g}, the time before it (or --sort)", t)
            continue
        walk[5] = t
        if entry.get("type") == "subagent":
            inner = entry.get("requests")
            if type(inner) is not list or len(walks) >= DEEPEST:
                wanted = "a list of requests" if type(inner) is not list else f"at most {DEEPEST} agents in each other"
                yield BadDocument.of("requests", wanted, inner)
                continue
            memory["agents"] = memory.get("agents", 0) + 1
            agent = entry.get("agent_id")
            agent = agent if type(agent) is str else f"agent {memory['agents']}"
            walks.append([iter(inner), walk[1] + t, f"{walk[2]}/{agent}", walk[2], 0, 0.0])
            continue
        walk[4] += 1
        row = {key: entry[key] for key in COPIED if key in entry}
        row |= {"t": walk[1] + t, "turn": walk[4], "session": walk[2], "parent_session": walk[3], "block_size": size}
        if is_number(entry.get("api_time")):
            row["completion"] = row["t"] + entry["api_time"]
        yield row


def _scope(document: dict[str, Any], memory: dict[str, Any]) -> str | None:
    scope = document.get("hash_id_scope")
    if scope is None:
        if not memory.get("scope told"):
            memory["scope told"] = True
            memory["notes"].append("hash_id_scope absent: ids taken as local to their conversation (--id-scope global)")
        return "conversation"
    return SCOPES.get(scope) if type(scope) is str else None


def _spacing(memory: dict[str, Any]) -> float:
    if "spacing" not in memory:
        given = memory["options"].get("spacing", 0)
        try:
            memory["spacing"] = float(given)
        except (TypeError, ValueError):
            memory["spacing"] = -1.0
        if not is_number(memory["spacing"]):
            raise BadParameter(f"spacing: wanted seconds, a number >= 0, found {given!r}")
    return memory["spacing"]  # type: ignore[no-any-return]


WEKA = TraceFormat(
    name="weka",
    title="kv-cache-tester conversations (WEKA)",
    what="One JSON object a conversation, as a file (read a folder of them) or a line: its requests in order, each "
    "with the ids of its full blocks, and the requests of sub-agents nested in the place where they were started.",
    aliases=("kv-cache-tester", "cc-traces"),
    defaults=Defaults(block_size=None, id_kind="prefix", id_scope="conversation", tail_rule="floor", time_unit="s"),
    sample='{"id": "trace_0007", "block_size": 64, "hash_id_scope": "local", "requests": [\n'
    '  {"t": 0.0, "type": "n", "model": "m", "in": 150, "out": 20, "hash_ids": [1, 2], "api_time": 2.5},\n'
    '  {"t": 5.0, "type": "subagent", "agent_id": "agent_001", "requests": [\n'
    '    {"t": 0.0, "type": "n", "model": "m", "in": 70, "out": 9, "hash_ids": [3]}]},\n'
    '  {"t": 9.5, "type": "s", "model": "m", "in": 200, "out": 31, "hash_ids": [1, 2, 4]}]}',
    fields=(
        ("id", "the conversation: the session of its requests"),
        ("block_size", "tokens in a full block"),
        ("hash_id_scope", "local: ids mean the same in this conversation only; global: in all; absent: taken as local"),
        ("requests[].t", "arrival in seconds after the start of the conversation"),
        ("requests[].in, out", "tokens of the prompt and of the answer"),
        ("requests[].hash_ids", "the full blocks of the prompt from its start"),
        ("requests[].api_time", "seconds to the end of the answer: completion is t plus it; may be absent"),
        ("requests[].type", "n, s: the request type; subagent: not a request, but a list of its own"),
        ("requests[].agent_id", "of a sub-agent: its session is id/agent_id, its parent session id"),
        ("requests[].requests[].t", "arrival in seconds after the sub-agent's t"),
    ),
    options=(Option("spacing", "0", "seconds between the starts of one conversation and the next"),),
    recognise=recognise,
    json=Json(keys=KEYS, nested=True, prepare=prepare, sorts=True, required=("time", "input_tokens")),
)
