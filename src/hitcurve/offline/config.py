"""The configuration of LiteHit's offline runner, read and checked whole: every rule it breaks is one line."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from hitcurve.errors import BadConfig
from hitcurve.formats.tair_rows import BLOCK_SIZE
from hitcurve.offline.fields import INT32, INT64, Fields, Findings, read_object
from hitcurve.offline.instances import Instance

NANOSECONDS = 1_000_000_000
MOST_GB = 2.0**33  # 2**63 bytes

ELSEWHERE = {
    **dict.fromkeys(("name", "capacity_gb", "eviction_policy", "shared_group_quota", "enable_theoretical_max_cache",
                     "ttl_seconds", "enable_prefix_hash"), "instance_groups[]"),
    **dict.fromkeys(("instance_group_name", "instance_id", "location_spec_infos", "location_spec_groups", "linear_step",
                     "optimizer_state_info"), "instances[]"),
    **dict.fromkeys(("full_location_spec_group_name", "linear_location_spec_group_name"),
                    "instances[].optimizer_state_info"),
    **dict.fromkeys(("trace_file_path", "output_result_path", "instance_groups", "instances", "override_instance_id",
                     "pipeline_worker_count", "fanout_all_instances"), "the configuration itself"),
}  # fmt: skip


@dataclass(frozen=True)
class Group:
    """What the instances of a group have in common.  Capacities are checked, and not needed: facts hold for all."""

    name: str
    capacity_gb: tuple[float, ...]
    ttl_seconds: int
    enable_prefix_hash: bool


@dataclass(frozen=True)
class Config:
    """A whole run.  ``warnings``: what looks odd in the file, one line each."""

    trace_file_path: str
    output_result_path: str
    instance_groups: tuple[Group, ...]
    instances: tuple[Instance, ...]
    block_size: int = BLOCK_SIZE
    override_instance_id: str = ""
    fanout_all_instances: bool = False
    pipeline_worker_count: int = 1
    warnings: tuple[str, ...] = ()


def read_config(path: str | os.PathLike[str]) -> Config:
    """The configuration in a JSON file.

    BadConfig, with every rule it breaks; TraceError where it is no JSON.
    """
    findings = Findings()
    fields = Fields(read_object(Path(path)), "", findings)
    config = _config(fields, findings)
    if findings.problems:
        raise BadConfig(path, findings.problems)
    return config


def _config(fields: Fields, findings: Findings) -> Config:
    trace_file_path = fields.text("trace_file_path")
    output_result_path = fields.text("output_result_path")
    if output_result_path and not Path(output_result_path).is_dir():
        findings.wanted("output_result_path", "a folder that exists", output_result_path)
    block_size = fields.whole("block_size", BLOCK_SIZE, 1, INT32)
    group_names: list[str] = []
    groups = [_group(each, group_names) for each in fields.objects("instance_groups")]
    ids: list[str] = []
    by_name = {group.name: group for group in groups}
    instances = [_instance(each, by_name, block_size, ids) for each in fields.objects("instances")]
    override = fields.text("override_instance_id", "")
    fanout = fields.flag("fanout_all_instances")
    if override and all(ids) and override not in ids:
        findings.wanted("override_instance_id", f"one of the instances ({', '.join(ids)})", override)
    if override and fanout:
        findings.wanted("fanout_all_instances", "false, as override_instance_id sends all rows to one instance", True)
    workers = fields.whole("pipeline_worker_count", 1, -INT32 - 1, INT32)
    fields.unknown(ELSEWHERE)
    return Config(
        trace_file_path,
        output_result_path,
        tuple(groups),
        tuple(instance for instance in instances if instance is not None),
        block_size,
        override,
        fanout,
        max(workers, 1),
        tuple(findings.warnings),
    )


def _group(fields: Fields, names: list[str]) -> Group:
    name = fields.text("name")
    fields.unique("name", name, names)
    capacities = fields.numbers("capacity_gb", MOST_GB)
    policy = fields.text("eviction_policy", "lru")
    if policy != "lru":
        fields.findings.wanted(fields.at("eviction_policy"), '"lru"', policy)
    if fields.flag("shared_group_quota"):
        fields.findings.wanted(fields.at("shared_group_quota"), "false: each instance has a cache of its own", True)
    fields.flag("enable_theoretical_max_cache")  # facts say what an infinite cache hits in any case
    ttl_seconds = fields.whole("ttl_seconds", 0, 0, INT64 // NANOSECONDS)
    group = Group(name, tuple(sorted(capacities)), ttl_seconds, fields.flag("enable_prefix_hash"))
    fields.unknown(ELSEWHERE)
    return group


def _instance(fields: Fields, groups: dict[str, Group], trace_block_size: int, ids: list[str]) -> Instance | None:
    """None where something is wrong with it, or with what was read before."""
    findings = fields.findings
    group_name = fields.text("instance_group_name")
    if group_name and all(groups) and group_name not in groups:
        findings.wanted(fields.at("instance_group_name"), f"one of the groups ({', '.join(groups)})", group_name)
    instance_id = fields.text("instance_id")
    fields.unique("instance_id", instance_id, ids)
    block_size = fields.whole("block_size", None, 1, INT32)
    if trace_block_size and block_size % trace_block_size:
        wanted = f"a multiple of the trace's {trace_block_size} (block_size, {BLOCK_SIZE} if it is not there)"
        findings.wanted(fields.at("block_size"), wanted, block_size)
    sizes = _spec_sizes(fields)
    spec_groups = _spec_groups(fields, sizes)
    step = fields.whole("linear_step", 0, 0, INT32)
    if block_size and step % block_size:
        findings.wanted(fields.at("linear_step"), f"a multiple of block_size ({block_size}), in tokens", step)
    block_bytes, linear_bytes = _charges(fields, spec_groups, step)
    fields.unknown(ELSEWHERE)
    if findings.problems:
        return None
    group = groups[group_name]
    return Instance(
        instance_id,
        block_size,
        block_bytes,
        ttl_ns=group.ttl_seconds * NANOSECONDS or None,
        prefix_hash=group.enable_prefix_hash,
        linear_bytes=linear_bytes if step else 0,
        step_blocks=step // block_size,
    )


def _spec_sizes(fields: Fields) -> dict[str, int]:
    sizes: dict[str, int] = {}
    names: list[str] = []
    for each in fields.objects("location_spec_infos"):
        name = each.text("name")
        each.unique("name", name, names)
        sizes[name] = each.whole("size", None, 1, INT32)
        each.unknown(ELSEWHERE)
    return sizes


def _spec_groups(fields: Fields, sizes: dict[str, int]) -> dict[str, int]:
    """Bytes of the specs of each group together."""
    totals: dict[str, int] = {}
    known = "one of location_spec_infos (" + ", ".join(sizes) + ")"
    names: list[str] = []
    for each in fields.objects("location_spec_groups", may_be_empty=True):
        name = each.text("name")
        each.unique("name", name, names)
        specs = each.texts("spec_names")
        for i, spec in enumerate(specs):
            if spec and all(sizes) and spec not in sizes:
                each.findings.wanted(f"{each.at('spec_names')}[{i}]", known, spec)
        totals[name] = sum(sizes.get(spec) or 1 for spec in specs)  # what is wrong with a size was told there
        each.unknown(ELSEWHERE)
    return totals


def _charges(fields: Fields, spec_groups: dict[str, int], step: int) -> tuple[int, int]:
    """Bytes of a full block, and of a linear-attention state."""
    info = fields.object("optimizer_state_info")
    if info is None:
        return 1, 0
    findings, known = fields.findings, f"one of location_spec_groups ({', '.join(spec_groups)})"
    full = info.text("full_location_spec_group_name")
    linear = info.text("linear_location_spec_group_name", "")
    for name, group in (("full_location_spec_group_name", full), ("linear_location_spec_group_name", linear)):
        if group and all(spec_groups) and group not in spec_groups:
            findings.wanted(info.at(name), known, group)
        elif spec_groups.get(group) == 0:
            findings.wanted(info.at(name), "a group of at least one spec", group)
    if linear and linear == full:
        findings.wanted(info.at("linear_location_spec_group_name"), "another group than the full one", linear)
    if step and not linear:
        findings.wanted(fields.at("linear_step"), "0, as no linear_location_spec_group_name is given", step)
    if linear and not step:
        where = fields.at("linear_step")
        findings.warnings.append(f"{where}: 0, so that the states of {linear!r} are not counted: full attention only")
    info.unknown(ELSEWHERE)
    return spec_groups.get(full, 1), spec_groups.get(linear, 0)
