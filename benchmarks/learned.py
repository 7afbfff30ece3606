"""What the learned policies reach, against LRU, S3-FIFO and Belady, and what learning costs.

    python benchmarks/learned.py

One run of each, on one core: hit ratios, block references per second of processor time, models made and the share of
the time that making them took.  Results go to ``benchmarks/results/learned.json``.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lightgbm

from hitcurve import __version__, read_trace
from hitcurve.policies import learning
from hitcurve.publish import published
from hitcurve.simulation import Prepared, Simulation
from hitcurve.synth import synthesize
from hitcurve.trace import Trace

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
POLICIES = ("lru", "s3fifo", "3lcache", "lrb", "belady")


def traces() -> Iterator[tuple[str, Trace, tuple[int, ...]]]:
    """Name, trace, capacities."""
    yield "synthesize(seed=0, sessions=600)", synthesize(seed=0, sessions=600), (16_384,)
    if DATA.is_dir():
        yield "mooncake_conversation", read_trace(DATA / "mooncake_conversation.jsonl.gz"), (4_000, 30_000)
        agentic = read_trace(DATA / "agentic_a.jsonl.zst", block_size=64, head=3_000)
        yield "agentic_a, first 3 000 requests", agentic, (65_536,)


def measured(prepared: Prepared, policy: str, capacity: int) -> dict[str, Any]:
    spent: list[float] = []
    making = learning.trained

    def timed(*examples: Any) -> Any:
        begun = time.thread_time()
        booster = making(*examples)
        spent.append(time.thread_time() - begun)
        return booster

    simulation = Simulation(prepared, policy, capacity, kernel="blocks").run(until=0)
    learning.trained = timed
    try:
        begun = time.thread_time()
        result = simulation.run().result()
        seconds = time.thread_time() - begun
    finally:
        learning.trained = making
    return {
        "policy": policy,
        "capacity_blocks": capacity,
        "block_hit_ratio": round(result.block_hit_ratio, 4),
        "prefix_hit_ratio": round(result.prefix_hit_ratio, 4),
        "evictions": result.n_eviction,
        "references_per_second": round(prepared.trace.n_block_refs / seconds),
        "models": len(spent),
        "share_of_time_learning": round(sum(spent) / seconds, 3),
    }


def main() -> None:
    rows = []
    for name, trace, capacities in traces():
        prepared = Prepared(trace)
        for capacity in capacities:
            for policy in POLICIES:
                row = {"trace": name, "references": trace.n_block_refs, **measured(prepared, policy, capacity)}
                rows.append(row)
                print(
                    f"{name:35} {capacity:7,} {policy:8} {100 * row['block_hit_ratio']:6.2f} % hits "
                    f"{100 * row['prefix_hit_ratio']:6.2f} % prefix hits {row['references_per_second'] / 1e6:8.3f} M/s "
                    f"{row['models']:4} models, {100 * row['share_of_time_learning']:3.0f} % of the time",
                    flush=True,
                )
    result = {
        "machine": {"processor": platform.processor() or platform.machine(), "cores_used": 1},
        "versions": {"hitcurve": __version__, "python": platform.python_version(), "lightgbm": lightgbm.__version__},
        "runs": rows,
    }
    with published(HERE / "results" / "learned.json", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
