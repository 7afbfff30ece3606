"""Reading JSON into interned spans against JSON libraries that stop at columns or values: speed and memory, one core.

    python benchmarks/reading.py [TRACE]     default: the reference trace beside the checkout, else a made one

All read the same uncompressed file, from the page cache, single-threaded.  ``hitcurve`` is ``read_trace``: parsed,
checked and interned.  ``pyarrow.json`` makes a table (best of 1 and 4 MB blocks); ``pysimdjson`` parses each line and
takes its ids as an int64 buffer and its other fields as they are; neither checks or interns anything.  Times are
processor seconds, rounds alternate, ``best`` is the shortest; ``times_faster`` compares the bests.  Memory is the peak
of a fresh process that reads the file, less that of one that has read a tiny trace.  Results go to
``benchmarks/results/reading.json``.
"""

from __future__ import annotations

import json
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.json
import simdjson

from hitcurve.formats import read_trace, write_trace
from hitcurve.formats.opening import Opened
from hitcurve.publish import published

HERE = Path(__file__).resolve().parent
REFERENCE = HERE.parents[1] / "shared" / "data" / "agentic_a.jsonl.zst"
ROUNDS = 3
PEAK = """
import sys
from hitcurve.formats import read_trace
for path in sys.argv[1:]:
    trace = read_trace(path)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM:")).split()[1])
"""
TINY = '{"timestamp": 0, "input_length": 600, "hash_ids": [1, 2]}\n'


def uncompressed(folder: Path) -> tuple[str, Path]:
    """The trace as one plain file, and what it is."""
    path = Path(sys.argv[1]) if sys.argv[1:] else REFERENCE
    plain = folder / "trace.jsonl"
    if path.exists():
        with open(plain, "wb") as out:
            file, room = Opened(path), memoryview(bytearray(1 << 20))
            while n := file.readinto(room):
                out.write(room[:n])
            file.close()
        return path.name, plain
    from hitcurve.synth import synthesize

    write_trace(synthesize(seed=0, sessions=400), plain)
    return "synthesize(seed=0, sessions=400)", plain


def with_pyarrow(path: Path, block: int) -> None:
    pyarrow.json.read_json(path, read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=block))


def with_simdjson(path: Path) -> None:
    parser = simdjson.Parser()
    with open(path, "rb") as file:
        for line in file:
            document = parser.parse(line)
            np.frombuffer(document["hash_ids"].as_buffer(of_type="i"), np.int64)
            for key in ("timestamp", "input_length", "output_length"):
                document[key]
            del document


def measure(tasks: dict[str, Callable[[], Any]]) -> dict[str, dict[str, float]]:
    found: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = time.process_time()
            task()
            found[name].append(time.process_time() - start)
    return {name: {"best": min(each), "median": statistics.median(each)} for name, each in found.items()}


def peak(*paths: Path) -> int:
    done = subprocess.run([sys.executable, "-c", PEAK, *map(str, paths)], capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024  # the peak since exec; getrusage would begin with that of this process


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        name, path = uncompressed(folder)
        size = path.stat().st_size
        trace = read_trace(path)
        seconds = measure(
            {
                "hitcurve": lambda: read_trace(path),
                "pysimdjson": lambda: with_simdjson(path),
                "pyarrow.json, 1 MB": lambda: with_pyarrow(path, 1 << 20),
                "pyarrow.json, 4 MB": lambda: with_pyarrow(path, 1 << 22),
            }
        )
        tiny = folder / "tiny.jsonl"
        tiny.write_text(TINY)
        before, after = peak(tiny), peak(tiny, path)
    finally:
        shutil.rmtree(folder)
    ours = seconds["hitcurve"]["best"]
    arrow = min(each["best"] for task, each in seconds.items() if task.startswith("pyarrow"))
    results = {
        "trace": name,
        "bytes": size,
        "block_refs": trace.n_block_refs,
        "unique_blocks": trace.n_blocks,
        "seconds": seconds,
        "megabytes_per_second": size / 1e6 / ours,
        "times_faster": {"pyarrow.json": arrow / ours, "pysimdjson": seconds["pysimdjson"]["best"] / ours},
        "peak_bytes": after,
        "peak_bytes_above_tiny_trace": after - before,
        "peak_bytes_per_unique_block": (after - before) / trace.n_blocks,
        "versions": {
            **{package: version(package) for package in ("numba", "numpy", "orjson", "pyarrow", "pysimdjson")},
            "python": platform.python_version(),
        },
    }
    with published(HERE / "results" / "reading.json", "w") as file:
        file.write(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
