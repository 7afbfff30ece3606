"""The sums of a query as a table: one row for each instance and capacity."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from hitcurve._version import __version__
from hitcurve.errors import BadParameter
from hitcurve.offline.capacities import Capacities, Slot
from hitcurve.offline.facts_file import open_facts
from hitcurve.offline.query import Query
from hitcurve.projection import INFINITE, ttl_in_ns
from hitcurve.table import Table

HIT = "a leading block of its request that is resident, as all before it are"


def query_facts(
    source: str | os.PathLike[str],
    capacities: Sequence[int | Slot | None] | None = None,
    *,
    capacities_gb: Sequence[float] | None = None,
    ttl: float | Literal["own"] | None = "own",
) -> Table:
    """Hits of the facts in ``source`` (CSV or Parquet), one row for each instance and capacity, then for all together.

    ``capacities``: blocks, None for infinite; or ``capacities_gb``: times 2^30 bytes, negative for infinite.  ``ttl``:
    seconds, None for no limit; "own" is each instance's own; another one needs Parquet facts.

    Columns ``instance_id`` (None: all), ``capacity`` or ``capacity_gb``, ``requests``, ``total_input_tokens``,
    ``total_hit_blocks``, ``total_hit_tokens``, ``hit_rate``.  TraceError for the first row that cannot be.
    """
    if (capacities is None) == (capacities_gb is None):
        raise BadParameter("wanted capacities or capacities_gb, one of them")
    if capacities_gb is not None:
        asked = Capacities.of_gb(capacities_gb)
    else:
        asked = Capacities(tuple(c if isinstance(c, Slot) else Slot.of_blocks(c) for c in capacities or ()))
    with open_facts(source) as facts:
        query = Query(facts, asked, None if ttl == "own" else ttl_in_ns(ttl))
        for _ in query.answers():
            pass
        return summary_table(query)


def summary_table(query: Query) -> Table:
    """One row for each instance and capacity, then for all instances together."""
    cells = [
        (s.instance_id, name, s.requests, s.total_input_tokens, blocks, tokens, rate)
        for s in query.summaries()
        for name, blocks, tokens, rate in zip(
            query.capacities.names, s.total_hit_blocks, s.total_hit_tokens, s.hit_rates, strict=True
        )
    ]
    sums = ("requests", "total_input_tokens", "total_hit_blocks", "total_hit_tokens", "hit_rate")
    columns = ("instance_id", query.capacities.field, *sums)
    return Table({name: [row[i] for row in cells] for i, name in enumerate(columns)}, provenance(query))


def provenance(query: Query) -> dict[str, Any]:
    """What was counted over what; ready for JSON."""
    if query.ttl_ns is None:
        ttl: Any = "each instance's own"
    else:
        ttl = None if query.ttl_ns == INFINITE else query.ttl_ns
    return {
        "facts": query.facts.name,
        "facts_provenance": query.facts.provenance,
        "ttl_ns": ttl,
        "hit": HIT,
        "hit_rate": "hit blocks x block_size_tokens / input_token_len, sums over sums",
        "hitcurve": __version__,
    }
