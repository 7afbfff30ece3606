"""Chosen capacities and times to live as a table: of all requests, or summed over groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.projection import INFINITE, blocks_of, ttl_in_ns
from hitcurve.table import Table
from hitcurve.trace.grouping import Groups, groups

if TYPE_CHECKING:
    from hitcurve.lru.hits import Hits

COLUMNS = (
    "hit_blocks",
    "hit_tokens",
    "tail_hit_tokens",
    "block_hit_ratio",
    "token_hit_ratio",
)
GROUP_COLUMNS = ("requests", "block_refs", "input_tokens")


def points(
    facts: Hits,
    capacities: Sequence[int | None],
    ttls: Sequence[float | None],
    block_bytes: int | None,
    by: str | tuple[str, float] | None,
) -> Table:
    """The table of ``Hits.points``."""
    if block_bytes is not None and block_bytes < 1:
        raise BadParameter(f"block_bytes: wanted at least 1, found {block_bytes}")
    in_bytes = facts.axis == "capacity_bytes"
    limits = [blocks_of(capacity, "bytes" if in_bytes else "blocks") for capacity in capacities]
    pair = ("capacity_bytes", "ttl_seconds") if in_bytes else ("capacity_blocks", "capacity_bytes", "ttl_seconds")
    provenance = facts.provenance() if in_bytes else {**facts.provenance(), "block_bytes": block_bytes}
    if by is None:
        names: tuple[str, ...] = (*pair, *COLUMNS)
        rows = list(_rows(facts, limits, ttls))
    else:
        grouped = groups(facts.trace, *((by,) if isinstance(by, str) else by))
        names = (grouped.column, *pair, *GROUP_COLUMNS, *COLUMNS)
        rows = list(_group_rows(facts, limits, ttls, grouped))
    for row in rows:
        capacity = row[facts.axis]
        row[facts.axis] = None if capacity == INFINITE else capacity
        if not in_bytes:
            row["capacity_bytes"] = None if capacity == INFINITE or not block_bytes else capacity * block_bytes
    return Table({name: [row[name] for row in rows] for name in names}, provenance)


def seconds(ttl: Any) -> float | int | None:
    """A time to live as a plain number, None for no limit."""
    if ttl_in_ns(ttl) == INFINITE:
        return None
    return int(ttl) if ttl == int(ttl) else float(ttl)


def _rows(facts: Hits, limits: Sequence[int], ttls: Sequence[float | None]) -> Iterator[dict[str, Any]]:
    at = np.array(limits, np.int64)
    nothing = [None] * len(limits)
    tokens = int(facts.input_tokens.sum()) if facts.in_tokens else None
    for ttl in ttls:
        hits = facts.block_curve(ttl).at(at).tolist()
        full = facts.full_block_curve(ttl).at(at).tolist() if facts.in_tokens else nothing
        tails = facts.tail_token_curve(ttl).at(at).tolist() if facts.in_tokens else nothing
        for capacity, hit, full_hit, tail_hit in zip(limits, hits, full, tails, strict=True):
            point = {facts.axis: capacity, "ttl_seconds": seconds(ttl)}
            yield {**point, **_cells(facts, hit, full_hit, tail_hit, facts.trace.n_block_refs, tokens)}


def _group_rows(
    facts: Hits, limits: Sequence[int], ttls: Sequence[float | None], grouped: Groups
) -> Iterator[dict[str, Any]]:
    def sums(values: np.ndarray) -> list[int]:
        return grouped.sums(values).tolist()

    nothing = [None] * len(grouped.values)
    requests, refs = sums(np.ones(len(facts), np.int64)), sums(facts.trace.request_blocks)
    tokens = sums(facts.input_tokens) if facts.in_tokens else nothing
    for ttl in ttls:
        for capacity in limits:
            hit = facts.hits_per_request(capacity, ttl)
            full = sums(np.minimum(hit, facts.full_blocks)) if facts.in_tokens else nothing
            tails = sums(np.where(hit > facts.full_blocks, facts.tail_tokens, 0)) if facts.in_tokens else nothing
            for g, counts in enumerate(zip(sums(hit), full, tails, refs, tokens, strict=True)):
                sizes = dict(zip(GROUP_COLUMNS, (requests[g], refs[g], tokens[g]), strict=True))
                point = {grouped.column: grouped.values[g], facts.axis: capacity, "ttl_seconds": seconds(ttl)}
                yield {**point, **sizes, **_cells(facts, *counts)}


def _cells(
    facts: Hits, hits: int, full: int | None, tails: int | None, refs: int, tokens: int | None
) -> dict[str, Any]:
    """What hit: counts, and ratios over ``refs`` and ``tokens``."""
    cells: dict[str, Any] = {"hit_blocks": hits, "hit_tokens": None, "tail_hit_tokens": tails}
    cells |= {"block_hit_ratio": hits / max(refs, 1), "token_hit_ratio": None}
    if full is not None and tokens is not None:
        cells["hit_tokens"] = full * facts.block_size
        cells["token_hit_ratio"] = cells["hit_tokens"] / max(tokens, 1)
    return cells
