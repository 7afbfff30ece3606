"""Small random runs: a configuration and the rows of its trace, with and without a tree of keys."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.lru.traces import any_requests, tree_requests
from tests.naive.lru import paths
from tests.offline.configs import config, group, hybrid, instance, written

HALF_SECOND = 500_000_000


def chained(requests: Sequence[Sequence[int]]) -> list[list[int]]:
    """A key for each path, some of them beyond int64."""
    keys: dict[Any, int] = {}
    return [[keys.setdefault(block, 2**63 - 3 + 2 * len(keys)) for block in request] for request in paths(requests)]


@st.composite
def runs(draw: Any, hybrids: bool = True) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """``configs.config`` without its folder, and rows (``type`` write among them)."""
    trace_block = draw(st.integers(1, 3))
    groups = [group("g"), group("t", ttl_seconds=draw(st.integers(1, 2))), group("p", enable_prefix_hash=True)]
    instances = []
    for k in range(draw(st.integers(1, 4))):
        size = trace_block * draw(st.integers(1, 3))
        name = draw(st.sampled_from("gtp"))
        if hybrids and draw(st.integers(0, 3)) == 0:
            instances.append(hybrid(f"i{k}", size, size * draw(st.integers(1, 3)), group=name))
        else:
            instances.append(instance(f"i{k}", size, name))
    routing = draw(st.sampled_from(["id", "override", "fanout"]))
    requests = draw(st.one_of(tree_requests(), tree_requests().map(chained), any_requests(most=12)))
    rows: list[dict[str, Any]] = []
    now = 1
    for number, keys in enumerate(requests):
        now += HALF_SECOND * draw(st.integers(0, 3))
        name = draw(st.sampled_from([each["instance_id"] for each in instances] + ["other"] * (routing != "id")))
        tokens = len(keys) * trace_block + draw(st.integers(0, trace_block - 1))
        row = {"type": draw(st.sampled_from(["get", "request", "request", "write"])), "instance_id": name,
               "timestamp_ns": now, "keys": keys, "input_len": tokens}  # fmt: skip
        if not tokens:
            row["type"] = "write"
        if draw(st.booleans()):
            row["trace_id"] = f'r{number},"'
        rows.append(row)
    made = {
        "block_size": trace_block,
        "instance_groups": groups,
        "instances": instances,
        "fanout_all_instances": routing == "fanout",
        "override_instance_id": instances[-1]["instance_id"] if routing == "override" else "",
    }
    return made, rows


def on_disk(folder: Path, made: dict[str, Any], rows: Sequence[dict[str, Any]], name: str = "config.json") -> Path:
    """The configuration and its trace as files."""
    (folder / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return written(folder, {**config(folder), **made}, name)
