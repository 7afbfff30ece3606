"""What the policies made for prefix caches reach: hits, leading-prefix hits, compute saved and holes.

    python benchmarks/observations.py [SECTION ...]        default: all sections; the others stay as they are stored

``engines``     leaf policies and engines' own structures
``sessions``    sessions, workload classes and costs, against the block policies that they extend
``partial``     pieces of paths against single blocks
``relations``   what else the relations in docs/prefix-relations.md compare
``learned``     3lcache taught more, and 3lcache and lrb over the whole of agentic_a (5 minutes)
``hybrid``      points of a hybrid model, and the bytes that 80 % of the tokens need, by the step of its states

The others take 7 minutes of processor time, compiling from nothing included.  Everything but ``seconds`` follows from
trace, parameters and seed, so a busy machine gives the same.  The traces are agentic_a and mooncake_conversation, the
reference traces beside the checkout, and the bundled one, ``synthesize(seed=0)``.  Costs are those of Qwen3-Coder-30B
where blocks have 64 tokens, else uniform.  Results go to ``benchmarks/results/observations.json``; ``make docs`` writes
the tables in the docs from there.
"""

from __future__ import annotations

import json
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from hitcurve import __version__, hybrid_facts, read_trace
from hitcurve.policies import random_compute
from hitcurve.publish import published
from hitcurve.simulation import Prepared, Simulation
from hitcurve.simulation.result import RATIOS
from hitcurve.synth import demo_trace
from hitcurve.trace import Trace

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data"
RESULTS = HERE / "results" / "observations.json"
SEED = 0
COST = "qwen3coder30b_blksz_64"
AGENTIC, BUNDLED, MOONCAKE = "agentic_a", "bundled", "mooncake_conversation"
FILES = {AGENTIC: "agentic_a.jsonl.zst", MOONCAKE: "mooncake_conversation.jsonl.gz"}
CAPACITIES = {
    AGENTIC: (16_384, 65_536, 262_144),
    BUNDLED: (2_048, 8_192, 32_768),
    MOONCAKE: (1_000, 10_000, 50_000),
}
ENGINES = (
    "leaf_belady", "lru", "leaf_lru", "leaf_priority", "leaf_fifo", "leaf_slru", "leaf_lfu", "leaf_mru",
    "vllm_free_queue", "trtllm_priority", "lmcache_lru", "mooncake_lru", "ttl",
)  # fmt: skip
SESSIONS = (
    "lru", "session_lru", "s3fifo", "session_s3fifo", "arc", "session_arc", "random_compute", "session_random_compute",
    "belady", "session_belady", "workload_aware", "asym_cache",
)  # fmt: skip
PIECES = "partial_node_random_compute"
COUNTS = ("n_req", "n_req_skipped", "n_blocks", "n_block_hits", "n_eviction", "n_overshoot", "n_released")
STEPS = (1, 8, 32, 256, 1_000_000)  # blocks from state to state
CHARGES = {"full_bytes": 64 * 24 << 10, "linear_bytes": 25 << 20}  # 24 KiB a token; of one state


class Asked(NamedTuple):
    """One simulation."""

    trace: str
    policy: str
    capacity: int
    params: tuple[tuple[str, Any], ...] = ()
    cost: str = ""  # that of the trace
    replay_order: str = "deepest-first"


def opened(name: str) -> Trace:
    if name == BUNDLED:
        return demo_trace()
    file = FILES[name]
    return read_trace(DATA / file, block_size=64 if name == AGENTIC else None).with_definition(
        sources=(f"../shared/data/{file}",)
    )


def untold(trace: Trace) -> Trace:
    """The same requests, without what workload_aware looks at."""
    return replace(trace, request_type=None, turn=None)


def engines() -> Iterator[Asked]:
    yield from (
        Asked(trace, policy, c) for trace in (AGENTIC, MOONCAKE) for c in CAPACITIES[trace] for policy in ENGINES
    )


def sessions() -> Iterator[Asked]:
    yield from (
        Asked(trace, policy, c) for trace in (AGENTIC, BUNDLED) for c in CAPACITIES[trace] for policy in SESSIONS
    )


def partial() -> Iterator[Asked]:
    for trace, capacities in ((AGENTIC, (16_384, 32_768, 65_536)), (BUNDLED, CAPACITIES[BUNDLED])):
        for capacity in capacities:
            for policy in ("lru", "random_compute", PIECES, "partial_node_random_freq", f"{PIECES}_small_queue"):
                yield Asked(trace, policy, capacity)
            for param in (("mode", "drain"), ("evict_from", "tail")):
                yield Asked(trace, PIECES, capacity, (param,))
    for policy in (PIECES, "partial_node_random_freq"):
        yield Asked(AGENTIC, policy, 8_192)


def relations(one_by_one: str) -> Iterator[Asked]:
    for trace in (AGENTIC, BUNDLED):
        for capacity in CAPACITIES[trace][:2]:
            yield Asked(trace, "lru", capacity, cost="uniform", replay_order="prefix")
            yield Asked(trace, "asym_cache", capacity, (("block_clock", 1),), cost="uniform")
            yield Asked(trace, "asym_cache", capacity, cost="uniform")
            yield Asked(f"{trace} without types and turns", "workload_aware", capacity)
            yield Asked(trace, one_by_one, capacity)


def learned() -> Iterator[Asked]:
    yield Asked(MOONCAKE, "3lcache", 4_000, (("every", 1), ("examples", 4_096)))
    yield from (Asked(AGENTIC, policy, 65_536) for policy in ("3lcache", "lrb"))


def stamped_one_by_one(folder: str) -> str:
    """The path of a random_compute that stamps a block when it is accessed: depth p looks p accesses older."""
    source = Path(random_compute.__file__).read_text()
    own = source.replace("= request_stamp(frame)", "= request_stamp(frame) - position")
    own = own.replace('    "random_compute",', '    "one_by_one",')
    assert own.count("- position") == own.count('"one_by_one"') == 1
    path = Path(folder, "one_by_one.py")
    path.write_text(own)
    return str(path)


def measured(prepared: Prepared, asked: Asked) -> dict[str, Any]:
    cost = asked.cost or (COST if prepared.trace.definition.block_size == 64 else "uniform")
    params, order = dict(asked.params), asked.replay_order
    simulation = Simulation(
        prepared, asked.policy, asked.capacity, params=params, cost=cost, replay_order=order, seed=SEED
    )
    begun = time.thread_time()
    result = simulation.run().result()
    row = {
        "trace": asked.trace,
        "policy": result.policy,
        "params": params,
        "capacity_blocks": asked.capacity,
        "cost": cost,
        "replay_order": order,
        **{name: getattr(result, name) for name in COUNTS},
        **{name: round(getattr(result, name), 6) for name in RATIOS},
    }
    if simulation.policy.family == "learned":
        row["seconds"] = round(time.thread_time() - begun)
    return row


def hybrid() -> list[dict[str, Any]]:
    trace = opened(AGENTIC)
    rows = []
    for step in (*STEPS, None):
        charges = CHARGES if step else {**CHARGES, "linear_bytes": 0}
        facts = hybrid_facts(trace, **charges, linear_step_blocks=step or 0)
        points = facts.progressions.length
        rows.append(
            {
                "trace": AGENTIC,
                **charges,
                "step_blocks": step,
                "points_per_request": round(int(points.sum()) / trace.n_requests, 2) if step else None,
                "progressions_per_request": round(len(points) / trace.n_requests, 2) if step else None,
                "bytes_for_80_percent_of_tokens": facts.capacity_for(0.8),
            }
        )
    return rows


def main() -> None:
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        asked = {
            "engines": list(engines()),
            "sessions": list(sessions()),
            "partial": list(partial()),
            "relations": list(relations(stamped_one_by_one(folder))),
            "learned": list(learned()),
        }
        chosen = sys.argv[1:] or [*asked, "hybrid"]
        found: dict[Asked, dict[str, Any]] = {}
        traces = stored.get("traces", {})
        for name in dict.fromkeys(each.trace for section in chosen for each in asked.get(section, ())):
            plain = name.partition(" ")[0]
            trace = opened(plain) if plain == name else untold(opened(plain))
            prepared, traces[name] = Prepared(trace), trace.summary()
            for each in dict.fromkeys(e for section in chosen for e in asked.get(section, ()) if e.trace == name):
                found[each] = measured(prepared, each)
                print(found[each], file=sys.stderr, flush=True)
    sections = {section: [found[each] for each in asked[section]] for section in chosen if section in asked}
    if "hybrid" in chosen:
        sections["hybrid"] = hybrid()
    result = {
        "versions": {
            "hitcurve": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numba", "numpy", "lightgbm")},
        },
        "seed": SEED,
        "pin": True,
        "ratios": {name: f"{part} / {whole}" for name, (part, whole) in RATIOS.items()},
        "counts": "docs/simulation.md",
        "traces": traces,
        **{name: sections.get(name, stored.get(name)) for name in (*asked, "hybrid")},
    }
    with published(RESULTS, "w") as file:
        json.dump(result, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
