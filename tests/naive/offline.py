"""LiteHit's batch run, slow and obvious: every lane on its own, from the configuration as it was parsed from JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.naive.facts import Row
from tests.naive.hybrid import NaiveHybrid
from tests.naive.lru import naive_segments
from tests.naive.prefix_hash import prefix_hash

SECOND = 10**9


def lane_keys(
    keys: Sequence[int], config: dict[str, Any], instance: dict[str, Any], group: dict[str, Any]
) -> list[int]:
    """The keys that the lane sees: chained first, then every k-th."""
    signed = [key - 2**64 if key >= 2**63 else key for key in keys]
    chained = prefix_hash(signed) if group.get("enable_prefix_hash") else signed
    every = instance["block_size"] // config["block_size"]
    return chained[every - 1 :: every]


def spec_bytes(instance: dict[str, Any], group_name: str) -> int:
    sizes = {spec["name"]: spec["size"] for spec in instance["location_spec_infos"]}
    (group,) = [group for group in instance["location_spec_groups"] if group["name"] == group_name]
    return sum(sizes[name] for name in group["spec_names"])


def group_of(config: dict[str, Any], instance: dict[str, Any]) -> dict[str, Any]:
    (group,) = [group for group in config["instance_groups"] if group["name"] == instance["instance_group_name"]]
    return group


def own_reads(config: dict[str, Any], rows: Sequence[dict[str, Any]], name: str) -> list[tuple[int, dict[str, Any]]]:
    """The rows that go to the lane of an instance, with their numbers."""
    override = config.get("override_instance_id", "")
    return [
        (number, row)
        for number, row in enumerate(rows)
        if row["type"] != "write" and (config.get("fanout_all_instances") or name == (override or row["instance_id"]))
    ]


def facts(config: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[Row]:
    """The facts of all reads, in order of rows, those of one row in order of instances."""
    found: list[tuple[int, int, Row]] = []
    for place, instance in enumerate(config["instances"]):
        group, name = group_of(config, instance), instance["instance_id"]
        own = own_reads(config, rows, name)
        requests = [lane_keys(row["keys"], config, instance, group) for _, row in own]
        times = [row["timestamp_ns"] for _, row in own]
        state = instance["optimizer_state_info"]
        full = spec_bytes(instance, state["full_location_spec_group_name"])
        step = instance.get("linear_step", 0) // instance["block_size"]
        if step:
            core = NaiveHybrid(full, spec_bytes(instance, state["linear_location_spec_group_name"]), step)
            pairs = [core.process(keys, now) for keys, now in zip(requests, times, strict=True)]
        else:
            pairs = naive_segments(requests, times)
        for (number, row), own_pairs in zip(own, pairs, strict=True):
            trace_id = row.get("trace_id") or f"trace_{row['instance_id']}_{row['timestamp_ns']}"
            ttl = group.get("ttl_seconds", 0) * SECOND or None
            numbers = (row["timestamp_ns"], row["input_len"], instance["block_size"], full)
            found.append((number, place, Row(trace_id, name, *numbers, bool(step), own_pairs, ttl)))
    return [row for _, _, row in sorted(found, key=lambda each: each[:2])]
