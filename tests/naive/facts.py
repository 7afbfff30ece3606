"""Facts files and their query, slow and obvious: one row at a time, one block at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

HEADER = "trace_id,instance_id,timestamp_ns,input_token_len,block_size_tokens,block_bytes,hit_curve"
BLANKS = " \t\r\n"


@dataclass
class Row:
    """One row of facts.  ``pairs``: (first, second, age) each; ``ttl``: None for none."""

    trace_id: str
    instance_id: str
    timestamp_ns: int
    input_token_len: int
    block_size_tokens: int
    block_bytes: int
    in_bytes: bool
    pairs: list[tuple[int, int, int]]
    ttl: int | None = None


def thresholds(row: Row, ttl: int | None) -> list[tuple[int, int]]:
    """(capacity, hit blocks from there on), a step for every block or point that is alive, ascending."""
    steps: list[tuple[int, int]] = []
    for first, second, age in row.pairs:
        if ttl is not None and age >= ttl:
            break
        if row.in_bytes:
            steps.append((first, second))
        else:
            steps += [(first + k, len(steps) + k + 1) for k in range(second)]
    return steps


def curve(row: Row, ttl: int | None) -> list[list[int]]:
    """The pairs of a CSV file: segments of consecutive thresholds, or the points."""
    steps = thresholds(row, ttl)
    if row.in_bytes:
        return [list(step) for step in steps]
    segments: list[list[int]] = []
    for capacity, _ in steps:
        if segments and sum(segments[-1]) == capacity:
            segments[-1][1] += 1
        else:
            segments.append([capacity, 1])
    return segments


def csv_text(rows: Sequence[Row], tagged: bool = False) -> str:
    """The whole file."""

    def name(text: str) -> str:
        return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\r\n') else text

    text = HEADER + "\n"
    for row in rows:
        tag = "bytes:" if row.in_bytes else "rle:" if tagged else ""
        pairs = json.dumps(curve(row, row.ttl), separators=(",", ":"))
        numbers = f"{row.timestamp_ns},{row.input_token_len},{row.block_size_tokens},{row.block_bytes}"
        text += f'{name(row.trace_id)},{name(row.instance_id)},{numbers},"{tag}{pairs}"\n'
    return text


def hits(row: Row, capacity: tuple[str, int] | None, ttl: int | None) -> int:
    """Hit blocks of one request.  ``capacity``: ("blocks", n), ("bytes", n), or None for infinite."""
    room: int | None = None
    if capacity is not None:
        unit, room = capacity
        if row.in_bytes and unit == "blocks":
            room *= row.block_bytes
        if not row.in_bytes and unit == "bytes":
            room //= row.block_bytes
    found = 0
    for step, blocks in thresholds(row, ttl):
        if room is None or step <= room:
            found = blocks
    return found


def query(
    rows: Sequence[Row], capacities: Sequence[tuple[str, int] | None], field: tuple[str, Sequence[Any]], ttl: str | int
) -> list[dict[str, Any]]:
    """The objects of a query's lines.

    ``field``: what the summaries call the capacities; ``ttl``: "own", or one for all (0: none).
    """
    lines: list[dict[str, Any]] = []
    kept = []
    for row in rows:
        limit = row.ttl if ttl == "own" else ttl or None
        found = [hits(row, capacity, limit) for capacity in capacities]  # type: ignore[arg-type]
        kept.append((row, found))
        lines.append(
            {
                "trace_id": row.trace_id,
                "instance_id": row.instance_id,
                "timestamp_ns": row.timestamp_ns,
                "input_token_len": row.input_token_len,
                "hit_blocks": found,
                "hit_rates": [_rate(n * row.block_size_tokens, row.input_token_len) for n in found],
            }
        )
    for instance in [*sorted({row.instance_id for row in rows}), None]:
        own = [(row, found) for row, found in kept if instance in (None, row.instance_id)]
        tokens = sum(row.input_token_len for row, _ in own)
        places = range(len(capacities))
        hit_tokens = [sum(found[k] * row.block_size_tokens for row, found in own) for k in places]
        lines.append(
            {
                "summary": True,
                **({} if instance is None else {"instance_id": instance}),
                "requests": len(own),
                "total_input_tokens": tokens,
                field[0]: list(field[1]),
                "total_hit_blocks": [sum(found[k] for _, found in own) for k in places],
                "total_hit_tokens": hit_tokens,
                "hit_rates": [_rate(n, tokens) for n in hit_tokens],
            }
        )
    return lines


def _rate(hit_tokens: int, tokens: int) -> float:
    return hit_tokens / tokens if tokens else 0.0


def read_csv(data: bytes) -> list[Row]:
    """The rows of a facts file, whose pairs have age 0; ValueError where the file is none."""
    records = _records(data.decode().removeprefix("\ufeff"))
    if not records or ",".join(records[0]) != HEADER:
        raise ValueError("header")
    rows = []
    for fields in records[1:]:
        trace_id, instance_id, *numbers, curve = fields
        timestamp_ns, length, tokens, n_bytes = (_whole(text) for text in numbers)
        tag = next((tag for tag in ("rle:", "bytes:", "mamba:") if curve.strip(BLANKS).startswith(tag)), "")
        in_bytes = tag in ("bytes:", "mamba:")
        pairs = _pairs(curve.strip(BLANKS).removeprefix(tag).strip(BLANKS))
        highest = hits = 0
        for first, second in pairs:
            if first <= highest or second <= hits:
                raise ValueError("pairs must rise")
            highest, hits = (first, second) if in_bytes else (first + second - 1, 0)
        if highest >= 2**63 or length < 0 or tokens < 1 or n_bytes < 1:
            raise ValueError("out of range")
        steps = [(first, second, 0) for first, second in pairs]
        rows.append(Row(trace_id, instance_id, timestamp_ns, length, tokens, n_bytes, in_bytes, steps))
    return rows


def _records(text: str) -> list[list[str]]:
    records: list[list[str]] = []
    fields: list[str] = []
    while text:
        if not fields and (text.startswith(("\n", "\r\n")) or text == "\r"):
            text = text.removeprefix("\r")[1:]  # a blank line
            continue
        if text.startswith('"'):
            end = 1
            while text[end : end + 1] != '"' or text[end + 1 : end + 2] == '"':
                if end >= len(text):
                    raise ValueError("open quote")
                end += 2 if text[end] == '"' else 1
            fields.append(text[1:end].replace('""', '"'))
            rest = text[end + 1 :]
        else:
            end = min(n if (n := text.find(c)) >= 0 else len(text) for c in ",\n")
            if '"' in text[:end]:
                raise ValueError("stray quote")
            field, rest = text[:end], text[end:]
            if not rest.startswith(","):
                field = field.removesuffix("\r")
            fields.append(field)
        if rest.startswith(","):
            text = rest[1:]
            if not text:
                fields.append("")
        else:
            if rest.removeprefix("\r")[:1] not in ("", "\n"):
                raise ValueError("stray quote")
            text = rest.removeprefix("\r")[1:]
            records.append(fields)
            fields = []
    return records + ([fields] if fields else [])


def _whole(text: str) -> int:
    text = text.strip(BLANKS)
    if not re.fullmatch("-?[0-9]{1,19}", text) or abs(int(text)) >= 2**63:
        raise ValueError(text)
    return int(text)


def _pairs(text: str) -> list[tuple[int, int]]:
    words = [word for word in re.findall(r"[0-9]+|[ \t\r\n]+|.", text) if word.strip(BLANKS)]
    one = r"\[ ([0-9]{1,19}) , ([0-9]{1,19}) \]"
    if not re.fullmatch(rf"\[ ({one} (, {one} )*)?\]", " ".join(words)):
        raise ValueError(text)
    pairs = [(int(a), int(b)) for a, b in re.findall(one, " ".join(words))]
    if any(max(pair) >= 2**63 for pair in pairs):
        raise ValueError(text)
    return pairs
