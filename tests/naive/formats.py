"""Reading formats the slow and obvious way: ``json.loads`` a line, a dict to intern with, one value at a time.

Written from the formats' descriptions.  ``Bad`` stands for every line or row that must be refused, with its line.
"""

from __future__ import annotations

import json
import math
from typing import Any

UNIT = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}


class Bad(Exception):
    def __init__(self, line: int) -> None:
        self.line = line


def documents(data: bytes) -> list[tuple[int, Any]]:
    """(line, value) of every line that is not blank; the value ``Bad`` where it is no JSON."""
    found = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip(b" \t\r"):
            try:
                found.append((number, json.loads(line.decode("utf-8"))))
            except (ValueError, RecursionError):
                found.append((number, Bad))
    return found


def plain_ids(value: Any) -> bool:
    return type(value) is list and all(type(raw) in (int, str) for raw in value)


def is_time(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and value >= 0


def fits(tokens: int, n_ids: int, size: int) -> bool:
    return n_ids in (tokens // size, -(-tokens // size))


def fitting_sizes(rows: list[tuple[int, int]], most: int = 3000) -> list[int]:
    """All block sizes up to ``most`` that fit every (tokens, ids)."""
    return [size for size in range(1, most + 1) if all(fits(tokens, n, size) for tokens, n in rows)]


def intern(requests: list[tuple[Any, list[Any]]]) -> list[list[int]]:
    """Dense ids of (namespace, raw ids), numbered by first appearance; a block is its parent and its raw id."""
    known: dict[Any, int] = {}
    out = []
    for namespace, ids in requests:
        parent: Any = ("root", namespace)
        blocks = []
        for raw in ids:
            parent = known.setdefault((parent, type(raw), raw), len(known))
            blocks.append(parent)
        out.append(blocks)
    return out


def mooncake(data: bytes) -> list[dict[str, Any]]:
    """The rows of a Mooncake file with times in all rows or none; Bad at its first bad one."""
    rows: list[dict[str, Any]] = []
    latest = 0
    timed = any(type(value) is dict and value.get("timestamp") is not None for _, value in documents(data))
    for line, value in documents(data):
        if value is Bad or type(value) is not dict or not plain_ids(value.get("hash_ids")):
            raise Bad(line)
        time = value.get("timestamp") if timed else 0
        if not is_time(time) or round(time * UNIT["ms"]) < latest:
            raise Bad(line)
        latest = round(time * UNIT["ms"])
        if type(value.get("input_length")) is not int or not 0 <= value["input_length"] < 2**32:
            raise Bad(line)
        output = value.get("output_length")
        if output is not None and (type(output) is not int or not 0 <= output < 2**32):
            raise Bad(line)
        session = value.get("session_id")
        if session is not None and type(session) not in (str, int):
            raise Bad(line)
        rows.append(
            {
                "time": latest,
                "input": value["input_length"],
                "output": -1 if output is None else output,
                "session": None if session is None else str(session),
                "ids": value["hash_ids"],
            }
        )
    return rows


def weka(conversation: dict[str, Any]) -> list[dict[str, Any]]:
    """The requests of one conversation in time order, sub-agents placed at their parent's time."""
    rows: list[dict[str, Any]] = []

    def walk(requests: list[dict[str, Any]], start: float, session: str, parent: str | None) -> None:
        turn = 0
        for entry in requests:
            if entry["type"] == "subagent":
                walk(entry["requests"], start + entry["t"], f"{session}/{entry['agent_id']}", session)
            else:
                turn += 1
                rows.append(
                    {
                        "time": round((start + entry["t"]) * UNIT["s"]),
                        "input": entry["in"],
                        "output": entry["out"],
                        "session": session,
                        "parent": parent,
                        "turn": turn,
                        "ids": entry["hash_ids"],
                    }
                )

    walk(conversation["requests"], 0.0, conversation["id"], None)
    return sorted(rows, key=lambda row: row["time"])


def tair(data: bytes, size: int) -> list[dict[str, Any]]:
    """The rows of a Tair trace whose keys stand for ``size`` tokens each; Bad at its first bad one."""
    rows: list[dict[str, Any]] = []
    latest = 0
    for line, value in documents(data):
        if value is Bad or type(value) is not dict or not _tair_fields(value) or value["timestamp_ns"] < latest:
            raise Bad(line)
        latest = value["timestamp_ns"]
        write = value["type"] == "write"
        if not write and len(value["keys"]) != value["input_len"] // size:
            raise Bad(line)
        rows.append(
            {
                "line": line,
                "write": write,
                "instance": value["instance_id"],
                "trace": value.get("trace_id") or f"trace_{value['instance_id']}_{latest}",
                "time": latest,
                "input": 0 if write else value["input_len"],
                "keys": [key - 2**64 if key >= 2**63 else key for key in value["keys"]],
            }
        )
    return rows


def _whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _tair_fields(row: dict[str, Any]) -> bool:
    kind, keys, mask = row.get("type"), row.get("keys"), row.get("block_mask")
    tokens, names = row.get("tokens"), row.get("location_spec_names")
    return (
        kind in ("get", "request", "write")
        and type(row.get("instance_id")) is str
        and row["instance_id"] != ""
        and (row.get("trace_id") is None or type(row["trace_id"]) is str)
        and _whole(row.get("timestamp_ns"), 1, 2**63 - 1)
        and type(keys) is list
        and all(_whole(key, -(2**63), 2**64 - 1) for key in keys)
        and (kind == "write" or _whole(row.get("input_len"), 1, 2**32 - 1))
        and (tokens is None or (type(tokens) is list and all(type(token) is int for token in tokens)))
        and (row.get("query_type") is None or type(row["query_type"]) is str)
        and (
            mask is None
            or _whole(mask, 0, 2**63 - 1)
            or (type(mask) is list and all(type(bit) is bool for bit in mask))
        )
        and (row.get("sw_size") is None or _whole(row["sw_size"], -(2**31), 2**31 - 1))
        and (names is None or (type(names) is list and all(type(name) is str for name in names)))
        and (row.get("ttl_us") is None or _whole(row["ttl_us"], -1, 2**63 - 1))
    )
