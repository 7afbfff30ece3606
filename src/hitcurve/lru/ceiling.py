"""How much cache reaches a share of what an infinite cache hits: of all requests, or of each group of them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.lru.facts import Facts
from hitcurve.lru.hit_curve import HitCurve
from hitcurve.lru.mrc_window import required
from hitcurve.lru.points import seconds
from hitcurve.projection import alive, ttl_in_ns
from hitcurve.table import Table
from hitcurve.trace.grouping import Groups, groups

SHARES = tuple(Fraction(percent).limit_denominator() / 100 for percent in (60, 80, 90, 95, 99, 99.5))


def capacities_of_ceiling(
    facts: Facts,
    shares: Sequence[Fraction] = SHARES,
    ttls: Sequence[float | None] = (None,),
    block_bytes: int | None = None,
    by: str | tuple[str, float] | None = None,
) -> Table:
    """One row a group, time to live and share: the smallest capacity that reaches the share of ``ceiling_hit_blocks``.

    The ceiling is what an infinite cache hits of the group's own requests under the same TTL.  All requests go through
    one cache, also where only those of a group are counted.  ``by``, ``block_bytes``: as of ``Facts.points``.
    Columns: the group, ``requests``, ``ttl_seconds``, ``ceiling_hit_blocks``, ``share_of_ceiling``, ``capacity_blocks``
    (0 where nothing hits), ``capacity_bytes``.  O(segments x log) for each TTL.
    """
    for share in shares:
        if not 0 <= share <= 1:
            raise BadParameter(f"share of the ceiling: wanted 0 .. 1, found {float(share):g}")
    n = facts.trace.n_requests
    every = Groups("", [None], np.zeros(n, np.int64))
    grouped = every if by is None else groups(facts.trace, *((by,) if isinstance(by, str) else by))
    requests = grouped.sums(np.ones(n, np.int64)).tolist()
    rows = []
    for ttl in ttls:
        for group, curve in enumerate(_curves(facts, ttl, grouped)):
            for share in shares:
                blocks = required(curve, share)
                size = blocks * block_bytes if block_bytes else None
                row = (requests[group], seconds(ttl), curve.most, float(share), blocks, size)
                rows.append((grouped.values[group], *row))
    names = (
        grouped.column,
        "requests",
        "ttl_seconds",
        "ceiling_hit_blocks",
        "share_of_ceiling",
        "capacity_blocks",
        "capacity_bytes",
    )
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names) if name}
    return Table(columns, {**facts.provenance(), "block_bytes": block_bytes})


def _curves(facts: Facts, ttl: float | None, grouped: Groups) -> list[HitCurve]:
    """The hit blocks of each group at every capacity."""
    group = np.repeat(grouped.codes, np.diff(facts.segment_offsets))
    rows = np.flatnonzero(alive(facts.segment_offsets, facts.age_ns, ttl_in_ns(ttl)))
    rows = rows[np.argsort(group[rows], kind="stable")]
    ends = np.searchsorted(group[rows], np.arange(1, len(grouped.values)))
    parts = np.split(rows, ends)[: len(grouped.values)]
    return [HitCurve.of(facts.start[part], facts.length[part]) for part in parts]
