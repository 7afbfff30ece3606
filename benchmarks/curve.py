"""The exact LRU curve of an opened trace: run level against our own compiled block-level pass, one core.

    python benchmarks/curve.py [TRACE ...]       default: the reference traces beside the checkout, else a made one

Both passes give the same facts (compared here on every run), and both are followed by the same projection of the whole
curve.  Facts of a hybrid model (24 KiB a token, states of 25 MiB every 8 blocks) are timed beside them.  ``best`` is
the shortest of all rounds, ``median`` the middle one; rounds of both passes alternate.  Results go to
``benchmarks/results/curve.json``.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from hitcurve.formats import read_trace
from hitcurve.lru import Facts, HybridFacts, LruStack, hybrid_facts, lru_facts
from hitcurve.lru.run_level import new_runs
from hitcurve.publish import published
from hitcurve.trace import Trace

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "shared" / "data"
NAMES = ("agentic_a.jsonl.zst", "mooncake_conversation.jsonl.gz")


def traces() -> dict[str, Trace]:
    paths = [Path(each) for each in sys.argv[1:]] or [REFERENCE / name for name in NAMES if (REFERENCE / name).exists()]
    if paths:
        return {path.name: read_trace(path) for path in paths}
    from hitcurve.synth import synthesize

    return {"synthesize(seed=0, sessions=400)": synthesize(seed=0, sessions=400)}


def timed(task: Callable[[], Any]) -> float:
    """Seconds of processor time of one call: other programs on the machine do not count."""
    start = time.thread_time()
    task()
    return time.thread_time() - start


def measure(tasks: dict[str, tuple[Callable[[], Any], int]]) -> dict[str, dict[str, float]]:
    """Best and median seconds of each task, after one call to warm up; ``tasks``: name -> (task, calls a round)."""
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for task, _ in tasks.values():
        task()
    for _ in range(5):
        for name, (task, calls) in tasks.items():
            found[name] += [timed(task) for _ in range(calls)]
    return {name: {"best": min(each), "median": statistics.median(each)} for name, each in found.items()}


def same(a: Facts, b: Facts) -> bool:
    return all(np.array_equal(getattr(a, c), getattr(b, c)) for c in ("segment_offsets", "start", "length", "age_ns"))


def hybrid(trace: Trace, method: str) -> HybridFacts:
    full_bytes = (trace.definition.block_size or 1) * 24 << 10
    return hybrid_facts(trace, full_bytes=full_bytes, linear_bytes=25 << 20, linear_step_blocks=8, method=method)


def measured(trace: Trace) -> dict[str, Any]:
    run, block = lru_facts(trace, "run"), lru_facts(trace, "block")
    assert same(run, block), "the two passes must agree"
    points = zip(*(hybrid(trace, method).byte_points for method in ("run", "block")), strict=True)
    assert all(np.array_equal(one, other) for one, other in points), "for hybrid models too"
    seconds = measure(
        {
            "run_level_facts": (lambda: lru_facts(trace, "run"), 20),
            "run_level_curve": (lambda: lru_facts(trace, "run").block_curve(), 20),
            "run_level_curve_table": (lambda: lru_facts(trace, "run").curve(), 10),
            "hybrid_run_level_facts": (lambda: hybrid(trace, "run"), 10),
            "hybrid_block_level_facts": (lambda: hybrid(trace, "block"), 1),
            "block_level_facts": (lambda: lru_facts(trace, "block"), 1),
            "block_level_curve": (lambda: lru_facts(trace, "block").block_curve(), 1),
            "block_level_curve_table": (lambda: lru_facts(trace, "block").curve(), 1),
            "points_100_capacities_3_ttls": (lambda: run.points([*range(1000, 101_000, 1000)], [None, 60, 3600]), 3),
        }
    )
    best = {name: each["best"] for name, each in seconds.items()}
    return {
        "requests": trace.n_requests,
        "block_refs": trace.n_block_refs,
        "unique_blocks": trace.n_blocks,
        "spans": len(trace.span_first),
        "segments": len(run.start),
        "curve_rows": len(run.curve()),
        "seconds": seconds,
        "references_per_second": {
            "run_level_curve": trace.n_block_refs / best["run_level_curve"],
            "run_level_curve_table": trace.n_block_refs / best["run_level_curve_table"],
            "block_level_curve": trace.n_block_refs / best["block_level_curve"],
        },
        "run_level_over_block_level": {
            "curve": best["block_level_curve"] / best["run_level_curve"],
            "curve_table": best["block_level_curve_table"] / best["run_level_curve_table"],
        },
        "run_level_state_bytes_per_request": sum(a.nbytes for a in new_runs(trace.n_requests)) / trace.n_requests,
        "incremental_requests_per_second": incremental(trace),
    }


def incremental(trace: Trace, requests: int = 2000) -> float:
    """Requests per second through ``LruStack``, from lists of ids."""
    keys = [trace.blocks(r).tolist() for r in range(min(requests, trace.n_requests))]
    stack = LruStack()
    stack.process(keys[0], 0)
    return len(keys) / timed(lambda: [stack.process(each, 0) for each in keys])


def main() -> None:
    results = {
        "machine": {"processor": platform.processor() or platform.machine(), "cores_used": 1},
        "versions": {"python": platform.python_version(), "numba": numba.__version__, "numpy": np.__version__},
        "traces": {name: measured(trace) for name, trace in traces().items()},
    }
    with published(HERE / "results" / "curve.json", "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    for name, result in results["traces"].items():
        speed, ratio = result["references_per_second"], result["run_level_over_block_level"]
        print(f"{name}: {result['block_refs']:,} references, {result['segments']:,} segments")
        for task, seconds in result["seconds"].items():
            print(f"  {task:30} best {seconds['best'] * 1e3:9.2f} ms   median {seconds['median'] * 1e3:9.2f} ms")
        print(f"  run level {speed['run_level_curve'] / 1e9:.2f} G references/s, {ratio['curve']:.0f} x block level")


if __name__ == "__main__":
    main()
