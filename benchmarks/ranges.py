"""The request loop on ranges against its definition block by block: block references a second of one core's time.

On the first traces given (default: ../shared/data/agentic_a.jsonl.zst at 16 384, 65 536 and 262 144 blocks, and
../shared/data/mooncake_conversation.jsonl.gz at 1 000, 10 000 and 50 000), each form the best of three.  Then both
forms at twelve capacities, from half the longest request to all blocks: every measure of every request is compared, and
``equal_at`` lists the capacities.  ``bytes_a_run``: nodes and table that were ever in use, over the most runs at once.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path

import numpy as np

from hitcurve import __version__, read_trace
from hitcurve.policies.ranges import NAMES
from hitcurve.simulation import Prepared, Simulation
from hitcurve.simulation.run import MEASURED

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
COMPARED = (*MEASURED, "evictions", "self_evictions")
CASES = (
    ("agentic_a.jsonl.zst", 64, (16_384, 65_536, 262_144)),
    ("mooncake_conversation.jsonl.gz", 512, (1_000, 10_000, 50_000)),
)


def best(prepared: Prepared, name: str, capacity: int, kernel: str) -> tuple[float, Simulation]:
    """(block references a second of processor time, a run) of the fastest of three."""
    fastest = float("inf")
    for _ in range(3):
        simulation = Simulation(prepared, name, capacity, kernel=kernel)
        simulation.run(until=0)  # compiled before the clock starts
        begun = time.thread_time()
        simulation.run()
        fastest = min(fastest, time.thread_time() - begun)
    return prepared.trace.n_block_refs / fastest, simulation


def same(one: Simulation, other: Simulation) -> bool:
    """Whether two runs measured the same of every request."""
    return all(np.array_equal(getattr(one.frame, name), getattr(other.frame, name)) for name in COMPARED)


def equal_at(prepared: Prepared, name: str) -> list[int]:
    """Those of twelve capacities at which both forms measure the same."""
    smallest = max(1, prepared.longest // 2)
    equal = []
    for capacity in np.geomspace(smallest, prepared.trace.n_blocks, 12).astype(int).tolist():
        runs = [Simulation(prepared, name, capacity, kernel=kernel).run() for kernel in ("blocks", "ranges")]
        if same(*runs):
            equal.append(capacity)
    return equal


def main() -> None:
    rows, comparisons = [], []
    for file, block_size, capacities in CASES:
        prepared = Prepared(read_trace(DATA / file, block_size=block_size))
        for name in NAMES:
            for capacity in capacities:
                ranges, fast = best(prepared, name, capacity, "ranges")
                blocks, slow = best(prepared, name, capacity, "blocks")
                assert same(fast, slow)
                queues = fast.state.runs
                most, slots = int(queues.numbers[1]), int(queues.numbers[3]) + 1
                rows.append(
                    {
                        "trace": file.split(".")[0],
                        "policy": name,
                        "capacity_blocks": capacity,
                        "ranges_per_second": round(ranges),
                        "blocks_per_second": round(blocks),
                        "ratio": round(ranges / blocks, 2),
                        "runs_at_the_end": int(queues.numbers[2]),
                        "runs_at_most": most,
                        "bytes_a_run": round(
                            (queues.nodes.itemsize * most + queues.table.itemsize * slots) / max(most, 1), 1
                        ),
                    }
                )
                print(rows[-1], file=sys.stderr, flush=True)
            comparisons.append({"trace": file.split(".")[0], "policy": name, "equal_at": equal_at(prepared, name)})
            print(comparisons[-1], file=sys.stderr, flush=True)
    result = {
        "version": __version__,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "rows": rows,
        "comparisons": comparisons,
    }
    (HERE / "results" / "ranges.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
