"""The tables of what was measured, from ``benchmarks/results``; ``docs/make.py`` puts each between its two marks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).resolve().parent
RESULTS = DOCS.parent / "benchmarks" / "results"
MEASURED = (
    "../README.md", "engines.md", "hybrid-models.md", "learned-policies.md", "partial-node.md", "prefix-relations.md",
    "ranges.md", "sessions.md", "speed.md",
)  # fmt: skip
MARKED = re.compile(
    r"(?P<mark><!-- made by `make docs` from benchmarks/results/(?P<file>\w+)\.json: (?P<table>\w+) -->\n)"
    r".*?(?=<!-- end -->)",
    re.DOTALL,
)
TRACES = {"agentic_a": "agentic_a", "bundled": "bundled trace", "mooncake_conversation": "Mooncake conversation"}
PIECES = "partial_node_random_compute"
Row = dict[str, Any]


def with_tables(page: str) -> str:
    """A page as it is, with the tables between its marks made anew."""

    def anew(mark: re.Match[str]) -> str:
        stored = json.loads((RESULTS / f"{mark['file']}.json").read_text())
        return f"{mark['mark']}\n{TABLES[mark['table']](stored)}\n\n"

    return MARKED.sub(anew, (DOCS / page).read_text())


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """In Markdown."""
    lines = [f"|{'|'.join(f' {cell} ' if cell else ' ' for cell in cells)}|" for cells in (head, *rows)]
    return "\n".join([lines[0], "|---" * (lines[0].count("|") - 1) + "|", *lines[1:]])


def percent(*ratios: float, digits: int = 1) -> str:
    return ", ".join(f"{100 * ratio:.{digits}f}" for ratio in ratios)


def named(row: Row) -> str:
    """The policy, with the parameters that are not the default."""
    return " ".join(f"`{each}`" for each in (row["policy"], *(f"{k}={v}" for k, v in row["params"].items())))


def across(rows: list[Row], *measures: str) -> str:
    """A line a policy, a column a trace and capacity."""
    places = list(dict.fromkeys((row["trace"], row["capacity_blocks"]) for row in rows))
    heads = [
        f"{TRACES[trace]} {capacity:,}" if i == 0 or places[i - 1][0] != trace else f"{capacity:,}"
        for i, (trace, capacity) in enumerate(places)
    ]
    cells = {
        (row["policy"], row["trace"], row["capacity_blocks"]): percent(*(row[m] for m in measures)) for row in rows
    }
    policies = dict.fromkeys(row["policy"] for row in rows)
    return table(["policy", *heads], ([f"`{p}`", *(cells[p, *place] for place in places)] for p in policies))


def pieces(stored: Row) -> str:
    """A line a policy and capacity, of one trace."""
    rows = [row for row in stored["partial"] if row["trace"] == "agentic_a"]
    lines, before = [], None
    for row in sorted(rows, key=lambda row: row["capacity_blocks"]):
        capacity = row["capacity_blocks"]
        ratios = (row[name] for name in ("block_hit_ratio", "prefix_hit_ratio", "compute_saving_ratio"))
        lines.append(
            [
                "" if capacity == before else f"{capacity:,}",
                named(row),
                *map(percent, ratios),
                f"{row['holes_per_request']:.2f}",
            ]
        )
        before = capacity
    return table(["capacity", "policy", "hits", "prefix hits", "compute saved", "holes a request"], lines)


class Side(NamedTuple):
    """One side of a published relation; picks a row at each trace and capacity."""

    words: str
    policy: str
    params: tuple[tuple[str, Any], ...] = ()
    cost: str = "qwen3coder30b_blksz_64"
    replay_order: str = "deepest-first"
    untold: bool = False  # of types and turns


class Relation(NamedTuple):
    """What was published, as our measurement can contradict it."""

    left: Side
    sign: str
    right: Side
    measure: str
    sizes: tuple[int, ...]  # 0, 1, 2: the smallest of the three capacities of each trace, the middle one, the largest
    published: str


MEASURES = {
    "n_block_hits": ("block hits", "{:,}"),
    "block_hit_ratio": ("block hits", "{:.2%}"),
    "compute_saving_ratio": ("compute saved", "{:.2%}"),
    "holes_per_request": ("holes a request", "{:.2f}"),
}
EVEN = 0.005
HOLDS: dict[str, Callable[[float, float], bool]] = {
    "=": lambda one, other: one == other,
    "≈": lambda one, other: abs(one - other) < EVEN,
    "≤": lambda one, other: one <= other,
    "<": lambda one, other: one < other,
    ">": lambda one, other: one > other,
}
CAPACITIES = {"agentic_a": (16_384, 65_536, 262_144), "bundled": (2_048, 8_192, 32_768)}
TIGHT, MIDDLE, LARGE = range(3)

LRU, RANDOM = Side("`lru`", "lru"), Side("`random_compute`", "random_compute")
SESSION_LRU = Side("`session_lru`", "session_lru")
SESSION_RANDOM = Side("`session_random_compute`", "session_random_compute")
ROOT_FIRST = Side("`lru`, root first", "lru", cost="uniform", replay_order="prefix")
MICRO, DRAIN = Side("`micro`", PIECES), Side("`drain`", PIECES, (("mode", "drain"),))
BY_BLOCKS = Side("`asym_cache`, equal costs, block clock", "asym_cache", (("block_clock", 1),), cost="uniform")
BY_TIME = Side("`asym_cache`, equal costs", "asym_cache", cost="uniform")
UNTOLD = Side("`workload_aware`, no types and turns", "workload_aware", untold=True)
ONE_BY_ONE = Side("each block stamped when accessed", "one_by_one")

RELATIONS = (
    Relation(BY_BLOCKS, "=", ROOT_FIRST, "n_block_hits", (TIGHT, MIDDLE), "equal"),
    Relation(BY_TIME, "≈", LRU, "block_hit_ratio", (TIGHT, MIDDLE), "equal"),
    Relation(UNTOLD, "≈", LRU, "block_hit_ratio", (TIGHT, MIDDLE), "equal"),
    Relation(RANDOM, ">", LRU, "compute_saving_ratio", (TIGHT,), "63.8 %, 53.3 %"),
    Relation(RANDOM, "<", LRU, "block_hit_ratio", (TIGHT,), "60.7 %, 61.1 %"),
    Relation(RANDOM, ">", ONE_BY_ONE, "compute_saving_ratio", (TIGHT, MIDDLE), "63.8 %, 60.7 %"),
    Relation(SESSION_LRU, "<", LRU, "block_hit_ratio", (TIGHT,), "10.5 points apart"),
    Relation(SESSION_LRU, "≈", LRU, "block_hit_ratio", (LARGE,), "hardly to be measured"),
    Relation(SESSION_RANDOM, "<", RANDOM, "compute_saving_ratio", (TIGHT,), "18.7 points apart"),
    Relation(SESSION_RANDOM, "≈", RANDOM, "compute_saving_ratio", (LARGE,), "hardly to be measured"),
    Relation(MICRO, "<", RANDOM, "holes_per_request", (TIGHT,), "a ninth"),
    Relation(MICRO, ">", DRAIN, "compute_saving_ratio", (TIGHT,), "63.8 %, 63.3 %"),
    Relation(MICRO, "≤", DRAIN, "holes_per_request", (TIGHT, MIDDLE), "1.01, 1.02"),
)


def relations(stored: Row) -> str:
    """A line a relation, trace and capacity, and whether it holds there."""
    rows = [row for section in ("relations", "sessions", "partial") for row in stored[section]]
    lines = []
    for left, sign, right, measure, sizes, published in RELATIONS:
        words, form = MEASURES[measure]
        head = [f"{left.words} {sign} {right.words}", words, published]
        for trace, capacities in CAPACITIES.items():
            for capacity in (capacities[size] for size in sizes):
                one, other = (picked(rows, side, trace, capacity)[measure] for side in (left, right))
                found = f"{form}, {form}".format(one, other).replace("%", " %")
                holds = "yes" if HOLDS[sign](one, other) else "**no**"
                lines.append([*head, f"{TRACES[trace]}, {capacity:,}", found, holds])
                head = ["", "", ""]
    return table(["relation", "in", "published", "trace, capacity", "measured", "holds"], lines)


def picked(rows: list[Row], side: Side, trace: str, capacity: int) -> Row:
    wanted = {
        "trace": f"{trace} without types and turns" if side.untold else trace,
        "policy": side.policy,
        "params": dict(side.params),
        "capacity_blocks": capacity,
        "cost": side.cost,
        "replay_order": side.replay_order,
    }
    return next(row for row in rows if wanted.items() <= row.items())


def learned(stored: Row) -> str:
    """Three lines a trace and capacity, a column a policy."""
    runs: dict[tuple[str, int], list[Row]] = {}
    for row in stored["runs"]:
        runs.setdefault((row["trace"], row["capacity_blocks"]), []).append(row)
    lines = []
    for (trace, capacity), of in runs.items():
        name = f"`{trace}`" if "(" in trace else trace
        millions = [row["references_per_second"] / 1e6 for row in of]
        lines += [
            [name, f"{capacity:,}", "block hits, %", *(percent(row["block_hit_ratio"], digits=2) for row in of)],
            ["", "", "prefix hits, %", *(percent(row["prefix_hit_ratio"], digits=2) for row in of)],
            ["", "", "M references/s", *(f"{each:.0f}" if each >= 10 else f"{each:.2f}" for each in millions)],
        ]
    policies = dict.fromkeys(row["policy"] for row in stored["runs"])
    return table(["trace", "capacity", "", *(f"`{name}`" for name in policies)], lines)


def taught(stored: Row) -> str:
    """A line a run of a learned policy."""
    return table(
        ["trace", "capacity", "policy", "block hits, %", "prefix hits, %", "holes a request", "seconds"],
        (
            [
                TRACES[row["trace"]],
                f"{row['capacity_blocks']:,}",
                named(row),
                percent(row["block_hit_ratio"], digits=2),
                percent(row["prefix_hit_ratio"], digits=2),
                f"{row['holes_per_request']:.2f}",
                f"{row['seconds']:,}",
            ]
            for row in stored["learned"]
        ),
    )


def hybrid(stored: Row) -> str:
    """A line a step."""
    return table(
        ["step, blocks", "points a request", "progressions a request", "80 % of tokens needs"],
        (
            [
                f"{row['step_blocks']:,}" if row["step_blocks"] else "full attention",
                f"{row['points_per_request']:,.1f}" if row["step_blocks"] else "",
                f"{row['progressions_per_request']:.1f}" if row["step_blocks"] else "",
                f"{row['bytes_for_80_percent_of_tokens'] / 2**30:.1f} GiB",
            ]
            for row in stored["hybrid"]
        ),
    )


TASKS = {
    "run_level_facts": "full attention, run level",
    "block_level_facts": "full attention, block level",
    "hybrid_run_level_facts": "hybrid, a state every 8 blocks, run level",
    "hybrid_block_level_facts": "hybrid, a state every 8 blocks, block level",
}


def times(stored: Row) -> str:
    """A line a task, as far as they have been timed."""
    seconds = stored["traces"]["agentic_a.jsonl.zst"]["seconds"]
    timed = {words: seconds[task] for task, words in TASKS.items() if task in seconds}
    return table(
        ["facts of agentic_a", "best, ms", "median, ms"],
        ([words, *(f"{1e3 * each[which]:,.1f}" for which in ("best", "median"))] for words, each in timed.items()),
    )


def millions(row: Row, name: str) -> str:
    """References a second, where they were measured."""
    return f"{row[name] / 1e6:,.0f}" if name in row else ""


SPEEDS = ("blocks_per_second", "ranges_per_second", "peer_per_second")


def first_look(stored: Row) -> str:
    """Six lists at the small capacity."""
    rows = {row["policy"]: row for row in stored["rows"] if row["capacity_blocks"] == 16_384}
    lines = (
        [name, *(millions(rows[name], each) for each in SPEEDS)]
        for name in ("lru", "fifo", "sieve", "twoq", "s3fifo", "arc")
    )
    return table(["policy", "block by block", "on ranges", "libCacheSim"], lines)


def beside_the_peer(stored: Row) -> str:
    """A line a policy and capacity that libCacheSim has replayed as well."""
    lines = (
        [
            f"`{row['policy']}`",
            f"{row['capacity_blocks']:,}",
            *(millions(row, each) for each in SPEEDS),
            *(f"{row[each]:.1f}" if each in row else "" for each in ("blocks_to_peer", "ranges_to_peer")),
        ]
        for row in stored["rows"]
        if "peer_per_second" in row
    )
    return table(
        ["policy", "blocks", "block by block", "on ranges", "libCacheSim", "blocks / peer", "ranges / peer"], lines
    )


def every_policy(stored: Row) -> str:
    """A line a policy: its definition's speed, and the seconds that its compilation takes."""
    speed = {(row["policy"], row["capacity_blocks"]): row for row in stored["rows"]}
    cold = stored["cold_seconds"]
    lines = (
        [
            f"`{name}`",
            *(millions(speed[name, capacity], "blocks_per_second") for capacity in (16_384, 65_536)),
            f"{whole / 1e6:,.0f}",
            f"{cold[name]:.1f}" if cold[name] > 0.1 else "",
            f"{cold[form]:.1f}" if (form := f"{name} on ranges") in cold and cold[form] > 0.1 else "",
        ]
        for name, whole in stored["whole_trace_at_65536_per_second"].items()
    )
    return table(
        ["policy", "at 16,384", "at 65,536", "whole trace at 65,536", "compiled in s", "on ranges in s"], lines
    )


def both_forms(stored: Row) -> str:
    """A line a trace, policy and capacity, on ranges and block by block."""
    lines = (
        [
            row["trace"],
            row["policy"],
            f"{row['capacity_blocks']:,}",
            *(millions(row, each) for each in ("ranges_per_second", "blocks_per_second")),
            f"{row['ratio']:.1f}",
        ]
        for row in stored["rows"]
    )
    return table(["trace", "policy", "capacity (blocks)", "on ranges", "block by block", "ratio"], lines)


TABLES: dict[str, Callable[[Row], str]] = {
    "engines": lambda stored: across(stored["engines"], "prefix_hit_ratio"),
    "sessions": lambda stored: across(stored["sessions"], "block_hit_ratio", "compute_saving_ratio"),
    "pieces": pieces,
    "learned": learned,
    "taught": taught,
    "relations": relations,
    "hybrid": hybrid,
    "times": times,
    "both_forms": both_forms,
    "first_look": first_look,
    "beside_the_peer": beside_the_peer,
    "every_policy": every_policy,
}
