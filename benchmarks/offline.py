"""The batch runner against the plain reader of the same Tair rows, and a query of 20 capacities over its facts.

    python benchmarks/offline.py [TRACE]     default: the reference trace beside the checkout, else the bundled one

The trace is converted to Tair rows twice: with its own ids as keys, and with chained hashes of 64 bits, as engines have
them.  All read an uncompressed file from the page cache.  ``read`` is ``read_trace`` (parsed, checked, interned);
``facts`` the runner, with one worker and with two, CSV and Parquet written and synced.  Rounds alternate; ``wall`` and
``processor`` are seconds of the best round.  ``core_share`` is the processor time inside the LRU kernels over that of
the whole run with one worker.  ``query`` is ``query_facts`` of the Parquet file.  Results go to
``benchmarks/results/offline.json``.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any
from unittest import mock

import numba
import numpy as np

from hitcurve import Instance, query_facts, write_facts
from hitcurve.formats import read_trace, write_trace
from hitcurve.lru.recency import RunOrder
from hitcurve.publish import published
from hitcurve.trace import Trace

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "shared" / "data" / "agentic_a.jsonl.zst"
ROUNDS = 5
BYTES_PER_TOKEN = 98304
GB = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192, -1]


def source() -> Path:
    if sys.argv[1:]:
        return Path(sys.argv[1])
    return REFERENCE if REFERENCE.exists() else Path(str(resources.files("hitcurve") / "data" / "demo.jsonl.zst"))


def measure(tasks: dict[str, Callable[[], Any]]) -> dict[str, dict[str, float]]:
    """Best seconds of each task, by the clock and of the processor, after one call to warm up."""
    for task in tasks.values():
        task()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            wall, processor = time.perf_counter(), time.process_time()
            task()
            found[name].append((time.perf_counter() - wall, time.process_time() - processor))
    return {
        name: {"wall": min(wall for wall, _ in each), "processor": min(processor for _, processor in each)}
        for name, each in found.items()
    }


def core_share(run: Callable[[], Any]) -> float:
    """Processor time inside the LRU kernels over all of it, of a run with one worker."""
    inside, follow = 0.0, RunOrder.follow

    def timed(*arguments: Any) -> Any:
        nonlocal inside
        begun = time.thread_time()
        try:
            return follow(*arguments)
        finally:
            inside += time.thread_time() - begun

    with mock.patch.object(RunOrder, "follow", timed):
        begun = time.process_time()
        run()
        return inside / (time.process_time() - begun)


def measured(path: Path, trace: Trace, folder: Path) -> dict[str, Any]:
    size = trace.definition.block_size or 1
    instance = Instance("", size, size * BYTES_PER_TOKEN)

    def facts(workers: int) -> Callable[[], Any]:
        return lambda: write_facts(path, folder, instance, block_size=size, workers=workers)

    seconds = measure(
        {
            "read": lambda: read_trace(path, block_size=size),
            "facts_1_worker": facts(1),
            "facts_2_workers": facts(2),
            "query_20_capacities": lambda: query_facts(folder / "litehit_facts.parquet", capacities_gb=GB),
        }
    )
    n_bytes = path.stat().st_size
    return {
        "bytes": n_bytes,
        "seconds": seconds,
        "megabytes_per_second": {
            name: n_bytes / 1e6 / each["wall"] for name, each in seconds.items() if not name.startswith("query")
        },
        "rows_per_second": {
            name: trace.n_requests / each["wall"] for name, each in seconds.items() if not name.startswith("query")
        },
        "core_share": min(core_share(facts(1)) for _ in range(ROUNDS)),
        "facts_bytes": {each.suffix[1:]: each.stat().st_size for each in sorted(folder.glob("litehit_facts.*"))},
    }


def main() -> None:
    given = source()
    trace = read_trace(given, tail="drop")
    results: dict[str, Any] = {
        "trace": given.name,
        "rows": trace.n_requests,
        "block_refs": trace.n_block_refs,
        "unique_blocks": trace.n_blocks,
        "machine": platform.processor() or platform.machine(),
        "versions": {"python": platform.python_version(), "numba": numba.__version__, "numpy": np.__version__},
    }
    hashed = replace(trace, definition=replace(trace.definition, id_kind="block"))
    with tempfile.TemporaryDirectory() as place:
        path, folder = Path(place) / "rows.jsonl", Path(place) / "facts"
        for name, each in (("ids_of_the_file", trace), ("chained_hashes", hashed)):
            write_trace(each, path, format="tair")
            results[name] = measured(path, trace, folder)
    with published(HERE / "results" / "offline.json", "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    for name in ("ids_of_the_file", "chained_hashes"):
        print(f"{name}: {results[name]['bytes'] / 1e6:,.0f} MB, {trace.n_requests:,} rows, {trace.n_block_refs:,} keys")
        for task, seconds in results[name]["seconds"].items():
            rate = results[name]["megabytes_per_second"].get(task)
            speed = f"   {rate:7,.0f} MB/s" if rate else ""
            print(
                f"  {task:22} {seconds['wall'] * 1e3:9.1f} ms   processor {seconds['processor'] * 1e3:9.1f} ms{speed}"
            )
        print(f"  LRU kernels: {results[name]['core_share']:.1%} of the processor time of a run")


if __name__ == "__main__":
    main()
