"""PrefixSim's own outputs, character by character: the RESULT line and the file of holes.

Its scripts go on working.  ``n_unobserved_eviction_round`` is always 0 here: every victim is seen by the loop.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hitcurve.errors import BadParameter, OutputError
from hitcurve.publish import published
from hitcurve.simulation.result import Result


def result_line(result: Result, trace_path: str | None = None, policy: str | None = None) -> str:
    """``RESULT key=value ...``; ``trace_path`` and ``policy`` as the user wrote them."""
    r = result.as_dict()
    capacity = max(1, result.trace.n_blocks) if r["capacity_blocks"] is None else r["capacity_blocks"]
    fields = {
        "trace": trace_path or source_name(result),
        "algo": policy or r["policy"],
        "cache_size": capacity,
        "cost_model": r["cost"],
        "block_id": r["identity"],
        **{name: r[name] for name in ("n_req", "n_req_skipped", "n_blocks")},
        "block_hit_ratio": f"{r['block_hit_ratio']:.6f}",
        "compute_saving_ratio": f"{r['compute_saving_ratio']:.6f}",
        **{name: r[name] for name in ("n_eviction", "n_self_eviction", "n_unexpected_eviction")},
        "n_unobserved_eviction_round": 0,
    }
    return "RESULT " + " ".join(f"{name}={value}" for name, value in fields.items())


def hole_lines(result: Result) -> Iterator[str]:
    """One line a served request: ``Request 7: (idx: 0, len: 4) (idx: 9, len: 1)``, with a line end."""
    if result.hole_list is None:
        raise BadParameter("this result kept no holes: simulate with holes=True, or holes=FOLDER")
    holes = result.hole_list
    served = np.flatnonzero(result.requests["n_req"])
    begins, ends = (np.searchsorted(holes[:, 0], served, side=side) for side in ("left", "right"))
    for r, begin, end in zip(served.tolist(), begins.tolist(), ends.tolist(), strict=True):
        stretches = "".join(f" (idx: {start}, len: {length})" for _, start, length in holes[begin:end].tolist())
        yield f"Request {r}:{stretches}\n"


def write_holes(result: Result, folder: str | os.PathLike[str], trace_path: str | None = None) -> Path:
    """Write ``holes_<trace>_cache<size>_<policy>.txt`` into a folder that exists; its path."""
    if not Path(folder).is_dir():
        raise OutputError(f"{folder}: is no folder; holes are written into one that exists")
    s = result.settings
    size = max(1, result.trace.n_blocks) if s.capacity_blocks is None else s.capacity_blocks
    stem = Path(trace_path or source_name(result)).name.rpartition(".")
    path = Path(folder) / f"holes_{stem[0] or stem[2]}_cache{size}_{s.policy}.txt"
    with published(path) as file:
        file.writelines(line.encode() for line in hole_lines(result))
    return path


def source_name(result: Result) -> str:
    """The trace's file, or its format where it came from no single file."""
    definition = result.trace.definition
    return definition.sources[0] if len(definition.sources) == 1 else definition.format
