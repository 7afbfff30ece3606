"""The sums of a facts query, for people."""

from __future__ import annotations

from hitcurve.offline.query import Query
from hitcurve.projection import INFINITE
from hitcurve.report.wording import count, counted, seconds, share
from hitcurve.table import Table


def query_text(query: Query) -> str:
    """A row for each instance and capacity, then for all together; and what was counted over what."""
    summaries = query.summaries()
    rows = [
        ("(all)" if s.instance_id is None else s.instance_id, str(name), *map(count, sums), share(rate))
        for s in summaries
        for name, rate, *sums in zip(
            query.capacities.names,
            s.hit_rates,
            [s.requests] * len(query.capacities.slots),
            [s.total_input_tokens] * len(query.capacities.slots),
            s.total_hit_blocks,
            s.total_hit_tokens,
            strict=True,
        )
    ]
    names = ("instance", query.capacities.field, "requests", "input tokens", "hit blocks", "hit tokens", "hit rate")
    table = Table({name: [row[i] for row in rows] for i, name in enumerate(names)})
    return "\n".join([table.to_text("plain", names[1:]), "", *_footing(query, len(summaries) - 1)]) + "\n"


def _footing(query: Query, n_instances: int) -> list[str]:
    requests = query.summaries()[-1].requests
    lines = [
        f"facts: {query.facts.name}: {counted(requests, 'request')} of {counted(n_instances, 'instance')}",
        "counted: hit blocks x block_size_tokens over input tokens; a hit is a leading block of its request that is "
        "resident, as all before it are",
    ]
    if query.ttl_ns is not None:
        lines.append(f"TTL: {'none' if query.ttl_ns == INFINITE else seconds(query.ttl_ns / 1e9)}")
    elif query.facts.has_ages:
        lines.append("TTL: each instance's own")
    for one in query.facts.provenance.get("instances", []):
        if not one.get("exact", True):
            lines.append(f"note: {one['instance_id']}: {one['hits']}")
    return lines
