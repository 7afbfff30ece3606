"""The sums of a facts query, for people."""

from __future__ import annotations

from hitcurve.offline.query import Query
from hitcurve.offline.query_tables import HIT, summary_table
from hitcurve.projection import INFINITE
from hitcurve.table import Table
from hitcurve.wording import count, counted, seconds, share

SUMS = ("requests", "input tokens", "hit blocks", "hit tokens")


def query_text(query: Query) -> str:
    """A row for each instance and capacity, then for all together; and what was counted over what."""
    instances, capacities, *sums, rates = summary_table(query).columns.values()
    columns = {
        "instance": ["(all)" if instance is None else instance for instance in instances],
        query.capacities.field: [str(capacity) for capacity in capacities],
        **{name: [count(n) for n in column] for name, column in zip(SUMS, sums, strict=True)},
        "hit rate": [share(rate) for rate in rates],
    }
    return "\n".join([Table(columns).to_text("plain", list(columns)[1:]), "", *_footing(query)]) + "\n"


def _footing(query: Query) -> list[str]:
    *instances, everything = query.summaries()
    n = counted(everything.requests, "request")
    lines = [
        f"facts: {query.facts.name}: {n} of {counted(len(instances), 'instance')}",
        f"counted: hit blocks x block_size_tokens over input tokens; a hit is {HIT}",
    ]
    if query.ttl_ns is not None:
        lines.append(f"TTL: {'none' if query.ttl_ns == INFINITE else seconds(query.ttl_ns / 1e9)}")
    elif query.facts.has_ages:
        lines.append("TTL: each instance's own")
    for one in query.facts.provenance.get("instances", []):
        if not one.get("exact", True):
            lines.append(f"note: {one['instance_id']}: {one['hits']}")
    return lines
