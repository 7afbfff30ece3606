"""Facts files and their query, slow and obvious: one row at a time, one block at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


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

    text = "trace_id,instance_id,timestamp_ns,input_token_len,block_size_tokens,block_bytes,hit_curve\n"
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
