"""The publisher log of Tair's KV cache manager: events of cache look-ups and writes, made into requests.

A look-up is a request.  A write becomes the completion of the look-up that it belongs to (``pairing.py``): its end, or
where the log has none, 100 ms after its start.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.formats.format import Defaults, Json, Keys, TraceFormat

if TYPE_CHECKING:
    from hitcurve.formats.assembling import Read
    from hitcurve.formats.batches import BadDocument, Batch

GET, START, FINISH = "GetCacheLocation", "StartWriteCache", "FinishWriteCache"
LENGTH = "input length"  # key that prepare adds
LENGTHS = ("input_len", "input_length", "input_tokens")  # the first that is > 0 counts, else the number of tokens
UNFINISHED_NS = 100_000_000  # how long a write takes whose end is not in the log
KEYS = Keys(
    ids="keys",
    time="trigger_time_us",
    input_tokens=LENGTH,
    tenant="source",
    request_type="type",
    request_id="write_session_id",
)


def recognise(document: dict[str, Any] | None, start: bytes) -> bool:
    return document is not None and "trigger_time_us" in document and "type" in document


def prepare(batch: Batch, memory: dict[str, Any]) -> None:
    """Leave look-ups and starts of writes; remember ends of writes."""
    if "ends" not in memory:
        if memory["wish"].time_unit not in (None, "us"):
            raise BadParameter("the times of publisher logs are in us")
        memory |= {"ends": {}, "others": Counter(), "without length": []}
    places = [(batch.source, line) for line in batch.lines]
    found = [
        _event(row, place, memory) if type(row) is dict else row for row, place in zip(batch.rows, places, strict=True)
    ]
    kept = [k for k, row in enumerate(found) if row is not None]
    batch.rows, batch.lines = [found[k] for k in kept], [batch.lines[k] for k in kept]


def _event(row: dict[str, Any], place: tuple[int, int], memory: dict[str, Any]) -> dict[str, Any] | BadDocument | None:
    from hitcurve.formats.batches import BadDocument

    kind, source, time, session = (row.get(key) for key in ("type", "source", "trigger_time_us", "write_session_id"))
    if type(kind) is not str:
        return BadDocument.of("type", f"the name of an event ({GET}, {START}, {FINISH})", kind)
    if kind not in (GET, START, FINISH):
        memory["others"][kind] += 1
        return None
    if type(source) is not str or not source:
        return BadDocument.of("source", "a string that is not empty", source)
    if type(time) is not int or time < 0:
        return BadDocument.of("trigger_time_us", "a whole number of microseconds >= 0", time)
    if kind != GET and type(session) not in (str, int):
        return BadDocument.of("write_session_id", "a string or a whole number", session)
    if kind == FINISH:
        memory["ends"].setdefault((source, str(session)), time * 1000)
        return None
    if kind == START:
        return {**row, LENGTH: 0}
    length = _length(row)
    if length is None:
        memory["without length"].append(place)
        return None
    return {**row, LENGTH: length, "write_session_id": None} if isinstance(length, int) else length


def _length(row: dict[str, Any]) -> int | BadDocument | None:
    """Tokens of the prompt; None where the row does not tell."""
    from hitcurve.formats.batches import BadDocument

    for key in LENGTHS:
        value = row.get(key)
        if value is not None and type(value) is not int:
            return BadDocument.of(key, "a whole number of tokens", value)
        if value is not None and value > 0:
            return value
    tokens = row.get("tokens")
    return len(tokens) if type(tokens) is list and tokens else None


def settle(read: Read, memory: dict[str, Any]) -> None:
    """Pair writes with look-ups, and leave look-ups alone."""
    from hitcurve.formats.columns import Names
    from hitcurve.formats.pairing import Paths, paired

    types = read.names["request_type"].labels()
    if types is None:
        is_write = np.zeros(0, bool)
    else:
        is_write = types.codes == (types.names.index(START) if START in types.names else -2)
    gets = np.flatnonzero(~is_write)
    _note(read, memory)
    if is_write.any():
        sessions, sources = read.names["request_id"].labels(), read.names["tenant"].labels()
        assert sessions is not None and sources is not None
        start_ns = read.numbers["time"]
        end_ns = start_ns + UNFINISHED_NS
        writes = np.flatnonzero(is_write).tolist()
        finished = 0
        for row in writes:
            end = memory["ends"].pop((sources[row], sessions[row]), None)
            if end is not None:
                finished += 1
                end_ns[row] = max(end, start_ns[row])
        text = f"{len(writes):,} writes, {len(writes) - finished:,} of them without an end (100 ms assumed)"
        if read.wish.identity == "prefix":
            spans = Paths(read.span_offsets, read.span_first, read.span_length, sources.codes, len(sources.names))
            write_of = paired(start_ns, is_write, end_ns, spans)
            read.numbers["completion"] = np.where(write_of >= 0, end_ns[write_of], -1)
            text += f": {(write_of >= 0).sum():,} are the completion of a request, the others are left out"
        else:
            text += ": left out, since identity raw knows no paths to pair them by"
        read.notes.append(text)
        read.keep(gets)
    if memory.get("ends"):
        read.notes.append(f"{len(memory['ends']):,} ends of writes without a start left out")
    read.names["request_type"], read.names["request_id"] = Names(), Names()


def _note(read: Read, memory: dict[str, Any]) -> None:
    """Say what was left out."""
    for source, line in memory.get("without length", [])[:1]:
        read.dropped += len(memory["without length"])
        reason = f"{GET} without a length ({', '.join(LENGTHS)}, tokens)"
        read.first_dropped.append(str(read.error(source, line, reason)))
    if memory.get("others"):
        events = ", ".join(f"{name} ({n:,})" for name, n in memory["others"].most_common(5))
        read.notes.append(f"events of other types left out: {events}")


PUBLISHER_LOG = TraceFormat(
    name="publisher_log",
    title="publisher log of Tair's KV cache manager",
    what="One event a line. GetCacheLocation is a request; StartWriteCache and FinishWriteCache, joined by their "
    "write_session_id, are a write. A write belongs to the latest request before it, of the same source and not yet "
    "paired, whose keys but the last are the first of the write: its end is that request's completion. Requests "
    "without a length are left out and counted. Events are put into time order.",
    aliases=("publisher-log",),
    defaults=Defaults(block_size=16, id_kind="prefix", id_scope="global", tail_rule="floor", time_unit="us"),
    sample='{"type": "GetCacheLocation", "source": "chat", "trigger_time_us": 1720000000000000, "input_len": 40, '
    '"tokens": [], "keys": [11, 12]}\n'
    '{"type": "StartWriteCache", "source": "chat", "trigger_time_us": 1720000000200000, "write_session_id": "w1", '
    '"keys": [11, 12, 13]}\n'
    '{"type": "FinishWriteCache", "source": "chat", "trigger_time_us": 1720000000350000, "write_session_id": "w1"}',
    fields=(
        ("type", "GetCacheLocation, StartWriteCache or FinishWriteCache; other events are left out and counted"),
        ("source", "the instance: the tenant"),
        ("trigger_time_us", "time of the event in microseconds"),
        ("keys", "blocks of the prompt from its start, each with all before it: numbers from -2^63 to 2^64 - 1"),
        ("input_len, input_length, input_tokens", "tokens of the prompt: the first > 0; else tokens are counted"),
        ("tokens", "the tokens of the prompt: counted where no length is given"),
        ("write_session_id", "joins the start and the end of a write"),
    ),
    recognise=recognise,
    json=Json(keys=KEYS, required=("time", "input_tokens"), prepare=prepare, settle=settle, sorts=True, words=True),
)  # fmt: skip
