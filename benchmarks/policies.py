"""Every policy against libCacheSim's C library at its best, and what compiling and loading the policies costs.

    python benchmarks/policies.py [POLICY ...]        default: all but the learned ones (benchmarks/learned.py)

The peer (PyPI ``libcachesim``, hashpower 18) replays the flattened, deepest-first accesses of the first 3 000 requests
of agentic_a from a file in oracleGeneral layout, and does nothing else.  Our side serves the same requests: look up,
make room, access, count.  ``blocks`` is a policy's definition, block by block, ``ranges`` its fast form, where it has
one.  Processor time of one core, best of three rounds of each.  Then the whole of agentic_a at 65 536 blocks, once; and
in fresh processes the time to compile each policy from nothing, shared kernels first, and to load all of them.  How
fast the machine was is told by a loop of plain Python, before and after.  Results go to
``benchmarks/results/policies.json``.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from hitcurve import __version__, read_trace
from hitcurve.policies import NAMES, policy_named
from hitcurve.policies.ranges import NAMES as ON_RANGES
from hitcurve.publish import published
from hitcurve.simulation import Prepared, Simulation

HERE = Path(__file__).resolve().parent
TRACE = HERE.parents[1] / "shared" / "data" / "agentic_a.jsonl.zst"
REQUESTS, CAPACITIES, ROUNDS = 3_000, (16_384, 65_536), 3
LARGEST = 262_144  # for those in LISTS too
PEERS = {
    "lru": "LRU", "fifo": "FIFO", "clock": "Clock", "sieve": "Sieve", "slru": "SLRU", "lfu": "LFU", "lfuda": "LFUDA",
    "size": "Size", "random": "Random", "lru-prob": "LRUProb", "hyperbolic": "Hyperbolic", "arc": "ARC",
    "twoq": "TwoQ", "lirs": "LIRS", "lecar": "LeCaR", "cacheus": "Cacheus", "wtinylfu": "WTinyLFU",
    "s3fifo": "S3FIFO", "lhd": "LHD", "gdsf": "GDSF", "belady": "Belady",
}  # fmt: skip
LISTS = ("lru", "fifo", "clock", "sieve", "slru", "s3fifo", "twoq", "arc", "qdlp", "lfu")

PEER = """
import sys, time
import libcachesim as peer
name, path, capacity = sys.argv[1], sys.argv[2], int(sys.argv[3])
init = peer.ReaderInitParam()
init.ignore_obj_size = True
reader = peer.TraceReader(path, peer.TraceType.ORACLE_GENERAL_TRACE, init)
cache = getattr(peer, name)(capacity, hashpower=18)
begun = time.process_time()
cache.process_trace(reader)
print(time.process_time() - begun)
"""

COMPILE = """
import sys, time
from hitcurve.simulation import Simulation
from hitcurve.trace import Trace
trace = Trace.of_requests([[1, 2, 3], [1, 4]], block_size=16)
begun = time.process_time()
for name in sys.argv[1:]:
    policy, _, form = name.partition(" on ")
    Simulation(trace, policy, 3, kernel=form or "blocks").run()
    now = time.process_time()
    print(round(now - begun, 3))
    begun = now
"""


def flattened(prepared: Prepared, path: Path) -> int:
    """Write the accesses in oracleGeneral layout; their number."""
    trace = prepared.trace
    blocks = np.concatenate([trace.blocks(r)[::-1] for r in range(trace.n_requests)])
    n = len(blocks)
    following = np.full(n, -1, np.int64)
    order = np.argsort(blocks, kind="stable")
    same = blocks[order[1:]] == blocks[order[:-1]]
    following[order[:-1][same]] = order[1:][same] + 1
    records = np.zeros(n, np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")]))
    records["time"], records["id"], records["size"], records["next"] = np.arange(n), blocks + 1, 1, following
    records.tofile(path)
    return n


def peer_seconds(name: str, path: Path, capacity: int) -> float | None:
    """Of one replay in a process of its own; None where the library crashes or hangs."""
    try:
        done = subprocess.run(
            [sys.executable, "-c", PEER, name, str(path), str(capacity)], capture_output=True, text=True, timeout=120
        )
    except subprocess.TimeoutExpired:
        return None
    return float(done.stdout.split()[-1]) if done.returncode == 0 and done.stdout else None


def own_seconds(prepared: Prepared, name: str, capacity: int, kernel: str) -> float:
    simulation = Simulation(prepared, name, capacity, kernel=kernel).run(until=0)  # compiled before the clock starts
    begun = time.thread_time()
    simulation.run()
    return time.thread_time() - begun


def loop_seconds() -> float:
    """Of ten million turns of a loop in plain Python."""
    begun, total = time.process_time(), 0
    for i in range(10_000_000):
        total += i
    return round(time.process_time() - begun, 2)


def compiled(names: list[str], folder: str) -> list[float]:
    """Seconds to get each of ``names`` ready, in a fresh process with the machine code kept in ``folder``."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, *names], capture_output=True, text=True, env=environment, check=True
    )
    return [float(line) for line in done.stdout.split()]


def main() -> None:
    loops = [loop_seconds()]
    chosen = sys.argv[1:] or [name for name in NAMES if policy_named(name).family != "learned"]
    whole = Prepared(read_trace(TRACE, block_size=64))
    head = Prepared(read_trace(TRACE, block_size=64, head=REQUESTS))
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "accesses.bin")
        n = flattened(head, path)
        for name in chosen:
            kernels = ["blocks", "ranges"] if name in ON_RANGES else ["blocks"]
            for capacity in (*CAPACITIES, LARGEST) if name in LISTS else CAPACITIES:
                row: dict[str, Any] = {"policy": name, "capacity_blocks": capacity}
                peers: list[float] = []
                own: dict[str, list[float]] = {kernel: [] for kernel in kernels}
                for _ in range(ROUNDS):
                    if name in PEERS and (seconds := peer_seconds(PEERS[name], path, capacity)) is not None:
                        peers.append(seconds)
                    for kernel in kernels:
                        own[kernel].append(own_seconds(head, name, capacity, kernel))
                for kernel, seconds_of in own.items():
                    row[f"{kernel}_per_second"] = round(n / min(seconds_of))
                if peers:
                    row["peer_per_second"] = round(n / min(peers))
                    for kernel, seconds_of in own.items():
                        row[f"{kernel}_to_peer"] = round(min(peers) / min(seconds_of), 2)
                rows.append(row)
                print(row, file=sys.stderr, flush=True)
        everything = {
            name: round(whole.trace.n_block_refs / own_seconds(whole, name, 65_536, "blocks")) for name in chosen
        }
        forms = [*chosen, *(f"{name} on ranges" for name in chosen if name in ON_RANGES)]
        cold = compiled(["mru", "lru on ranges", *forms], folder)
        warm = compiled(["mru", "lru on ranges", *forms], folder)
    result = {
        "version": __version__,
        "machine": {
            "processor": platform.machine(),
            "python": platform.python_version(),
            "cores_used": 1,
            "python_loop_seconds": [*loops, loop_seconds()],
        },
        "accesses": n,
        "rows": rows,
        "lists_blocks_to_peer": _summary(rows, LISTS, "blocks_to_peer"),
        "lists_ranges_to_peer": _summary(rows, LISTS, "ranges_to_peer"),
        "others_to_peer": _summary(rows, tuple(n for n in PEERS if n not in LISTS), "blocks_to_peer"),
        "whole_trace_at_65536_per_second": everything,
        "cold_seconds_shared_kernels": cold[:2],
        "cold_seconds": dict(zip(forms, cold[2:], strict=True)),
        "warm_seconds_all": round(sum(warm), 3),
        "made": time.strftime("%Y-%m-%d"),
    }
    with published(HERE / "results" / "policies.json", "w") as file:
        file.write(json.dumps(result, indent=1) + "\n")


def _summary(rows: list[dict[str, Any]], names: tuple[str, ...], key: str) -> dict[str, float] | None:
    values = [row[key] for row in rows if row["policy"] in names and key in row]
    return {"least": min(values), "median": round(statistics.median(values), 2)} if values else None


if __name__ == "__main__":
    main()
