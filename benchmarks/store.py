"""Our Parquet file against the JSON it was converted from: bytes, and time to open; one core.

    python benchmarks/store.py [TRACE]       default: the reference trace beside the checkout, else the bundled one

Both are read by ``read_trace`` into the same trace (compared here).  ``best`` is the shortest of all rounds, ``median``
the middle one, in seconds of processor time.  Results go to ``benchmarks/results/store.json``.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
import pyarrow

from hitcurve.formats import read_trace
from hitcurve.publish import published
from hitcurve.trace import Trace
from hitcurve.trace.store import read_parquet, write_parquet

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "shared" / "data" / "agentic_a.jsonl.zst"


def source() -> Path:
    if sys.argv[1:]:
        return Path(sys.argv[1])
    return REFERENCE if REFERENCE.exists() else Path(str(resources.files("hitcurve") / "data" / "demo.jsonl.zst"))


def measure(read: Callable[[], Trace], rounds: int) -> dict[str, float]:
    read()
    found = []
    for _ in range(rounds):
        start = time.process_time()
        read()
        found.append(time.process_time() - start)
    return {"best": min(found), "median": statistics.median(found)}


def main() -> None:
    path = source()
    trace = read_trace(path)
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "trace.parquet"
        start = time.process_time()
        write_parquet(trace, ours)
        writing = time.process_time() - start
        again = read_parquet(ours)
        assert np.array_equal(again.span_first, trace.span_first) and again.definition == trace.definition
        found_json = measure(lambda: read_trace(path), 3)
        found_ours = measure(lambda: read_parquet(ours), 15)
        size = ours.stat().st_size
    result = {
        "trace": path.name,
        **{key: trace.summary()[key] for key in ("requests", "block_refs", "unique_blocks")},
        "spans": len(trace.span_first),
        "bytes_json": path.stat().st_size,
        "bytes_parquet": size,
        "seconds_write_parquet": writing,
        "seconds_read_json": found_json,
        "seconds_read_parquet": found_ours,
        "times_faster": found_json["best"] / found_ours["best"],
        "python": platform.python_version(),
        "pyarrow": pyarrow.__version__,
    }
    (HERE / "results").mkdir(exist_ok=True)
    with published(HERE / "results" / "store.json", "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
