"""The report of ``hitcurve curve --of-ceiling``: the cache that reaches a share of what an infinite cache hits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from hitcurve._version import __version__
from hitcurve.lru.ceiling import capacities_of_ceiling
from hitcurve.lru.facts import Facts
from hitcurve.report.answers import Answer, room, sentence
from hitcurve.report.definition import hit_definition, hit_lines
from hitcurve.report.report import Report
from hitcurve.table import Table
from hitcurve.wording import count, seconds, share, size

CELLS = {
    "requests": ("requests", count),
    "ttl_seconds": ("TTL", seconds),
    "ceiling_hit_blocks": ("hit blocks of an infinite cache", count),
    "share_of_ceiling": ("share of them", share),
    "capacity_blocks": ("needs blocks", count),
    "capacity_bytes": ("needs", size),
}


def ceiling_report(
    facts: Facts,
    shares: Sequence[Fraction],
    ttls: Sequence[float | None] = (None,),
    block_bytes: int | None = None,
    by: str | tuple[str, float] | None = None,
) -> Report:
    """One row a group, TTL and share."""
    table = capacities_of_ceiling(facts, shares, ttls, block_bytes, by)
    shown = {}
    for name, values in table.columns.items():
        heading, text = CELLS.get(name, (name.replace("_", " "), str))
        empty = "none" if name == "ttl_seconds" else "(none)" if name not in CELLS else ""
        cells = [empty if value is None else text(value) for value in values]
        if name not in ("ttl_seconds", "capacity_bytes") or any(value is not None for value in values):
            shown[heading] = cells
    return Report(
        answers=_sentences(table, block_bytes, facts.trace.definition.block_size) if by is None else [],
        shown=Table(shown),
        table=table,
        document={
            "trace": facts.trace.summary(),
            "definition": hit_definition(facts),
            "points": list(table.rows()),
            "block_bytes": block_bytes,
            "hitcurve": __version__,
        },
        footing=[
            "the ceiling: what an infinite cache hits of the same requests, under the same TTL",
            *hit_lines(facts),
        ],
        names=int(by is not None),
    )


def _sentences(table: Table, block_bytes: int | None, block_size: int | None) -> list[str]:
    """One line a TTL."""
    answers: dict[float | None, list[Answer]] = {}
    for row in table.rows():
        target, ttl, blocks = Fraction(row["share_of_ceiling"]), row["ttl_seconds"], row["capacity_blocks"]
        answers.setdefault(ttl, []).append(Answer(target, ttl, blocks, ceiling=Fraction(1)))
    said = partial(room, block_bytes=block_bytes, block_size=block_size)
    return [sentence(each, "the ceiling", said) for each in answers.values()]
