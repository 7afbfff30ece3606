"""The request loop on ranges against its definition block by block: block references a second of one core's time.

On the first traces given (default: ../shared/data/agentic_a.jsonl.zst at 16 384, 65 536 and 262 144 blocks, and
../shared/data/mooncake_conversation.jsonl.gz at 1 000, 10 000 and 50 000), each form the best of three.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path

from hitcurve import __version__, read_trace
from hitcurve.policies.ranges import NAMES
from hitcurve.simulation import Prepared, Simulation

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
CASES = (
    ("agentic_a.jsonl.zst", 64, (16_384, 65_536, 262_144)),
    ("mooncake_conversation.jsonl.gz", 512, (1_000, 10_000, 50_000)),
)


def best(prepared: Prepared, name: str, capacity: int, kernel: str) -> tuple[float, Simulation]:
    """(block references a second of processor time, a run) of the fastest of three."""
    fastest = float("inf")
    for _ in range(3):
        simulation = Simulation(prepared, name, capacity, kernel=kernel).run(
            until=0
        )  # compiled before the clock starts
        begun = time.thread_time()
        simulation.run()
        fastest = min(fastest, time.thread_time() - begun)
    return prepared.trace.n_block_refs / fastest, simulation


def main() -> None:
    rows = []
    for file, block_size, capacities in CASES:
        prepared = Prepared(read_trace(DATA / file, block_size=block_size))
        for name in NAMES:
            for capacity in capacities:
                ranges, fast = best(prepared, name, capacity, "ranges")
                blocks, slow = best(prepared, name, capacity, "blocks")
                a, b = ({**run.result().as_dict()} for run in (fast, slow))
                assert a["n_block_hits"] == b["n_block_hits"] and a["n_eviction"] == b["n_eviction"]
                rows.append(
                    {
                        "trace": file.split(".")[0],
                        "policy": name,
                        "capacity_blocks": capacity,
                        "ranges_per_second": round(ranges),
                        "blocks_per_second": round(blocks),
                        "ratio": round(ranges / blocks, 2),
                        "runs_at_the_end": int(fast.state.runs.numbers[2]),
                    }
                )
                print(rows[-1], file=sys.stderr, flush=True)
    result = {"version": __version__, "machine": platform.machine(), "python": platform.python_version(), "rows": rows}
    (HERE / "results" / "ranges.json").write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
