"""Configurations as LiteHit's users write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def group(name: str = "g", **more: Any) -> dict[str, Any]:
    return {"name": name, "capacity_gb": [1.0], "eviction_policy": "lru", **more}


def instance(instance_id: str = "i", block_size: int = 4, group: str = "g", **more: Any) -> dict[str, Any]:
    """16384 bytes a block, in two parts."""
    return {
        "instance_group_name": group,
        "instance_id": instance_id,
        "block_size": block_size,
        "location_spec_infos": [{"name": "tp0", "size": 8192}, {"name": "tp1", "size": 8192}],
        "location_spec_groups": [{"name": "full", "spec_names": ["tp0", "tp1"]}],
        "optimizer_state_info": {"full_location_spec_group_name": "full"},
        **more,
    }


def hybrid(instance_id: str = "h", block_size: int = 4, linear_step: int = 12, **more: Any) -> dict[str, Any]:
    """16384 bytes a block, and states of 4096 bytes every ``linear_step`` tokens."""
    return instance(
        instance_id,
        block_size,
        location_spec_infos=[{"name": "kv", "size": 16384}, {"name": "state", "size": 4096}],
        location_spec_groups=[{"name": "full", "spec_names": ["kv"]}, {"name": "linear", "spec_names": ["state"]}],
        linear_step=linear_step,
        optimizer_state_info={"full_location_spec_group_name": "full", "linear_location_spec_group_name": "linear"},
        **more,
    )


def config(folder: Path, **more: Any) -> dict[str, Any]:
    """One group, one instance, blocks of 4 tokens; trace and results in ``folder``."""
    return {
        "trace_file_path": str(folder / "trace.jsonl"),
        "output_result_path": str(folder / "out"),
        "block_size": 4,
        "instance_groups": [group()],
        "instances": [instance()],
        **more,
    }


def written(folder: Path, content: Any, name: str = "config.json") -> Path:
    """The configuration as a file, and the folder for its results."""
    (folder / "out").mkdir(exist_ok=True)
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path
