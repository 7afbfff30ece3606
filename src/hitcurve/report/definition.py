"""What was counted over what, and how the trace was read: said in every output."""

from __future__ import annotations

from typing import Any

from hitcurve.lru.hits import Hits
from hitcurve.trace import Trace
from hitcurve.wording import and_more, count, counted


def hit_definition(facts: Hits) -> dict[str, Any]:
    """The ``definition`` object of the JSON output."""
    return {
        "policy": "lru",
        "method": facts.method,
        "exact": facts.exact,
        "hit": facts.hit,
        "hit_tokens": "hit full blocks x block size" if facts.in_tokens else None,
        "tail_hit_tokens": "tokens of hit partial last blocks" if facts.in_tokens else None,
        "block_hit_ratio": "hit blocks / block references",
        "token_hit_ratio": "hit_tokens / input tokens" if facts.in_tokens else None,
        "warm_up": "none: every request counts",
        "commit": "whole request, last block first, after the request was judged",
        "ttl": "alive while younger than the TTL; every access refreshes",
    }


def hit_lines(facts: Hits) -> list[str]:
    """The same, for people."""
    trace, size = facts.trace, facts.trace.definition.block_size
    refs = counted(trace.n_block_refs, "block reference")
    if size and facts.in_tokens:
        tokens = count(trace.n_input_tokens or 0)
        over = f"hit full blocks x {count(size)} tokens over {tokens} input tokens; blocks over {refs}"
    else:
        over = f"hit blocks over {refs}"
    return [f"counted: {over}; every request counts (no warm-up)", *trace_lines(trace)]


def trace_lines(trace: Trace) -> list[str]:
    """How the trace was read, one line, and what the reader had to assume, a line each."""
    d = trace.definition
    parts = [
        f"{counted(trace.n_requests, 'request')}, {counted(trace.n_blocks, 'unique block')}",
        f"block size {count(d.block_size)}" if d.block_size else "block size unknown",
        f"tail rule {d.tail_rule} (partial blocks {'kept' if d.tail == 'keep' else 'left out'})",
        f"ids {d.id_kind}, {d.id_scope}" + ("" if d.identity == "prefix" else ", taken as they are"),
        f"times in {d.time_unit}" if d.time_unit != "none" else "no times",
    ]
    if d.rows_dropped:
        parts.append(f"{counted(d.rows_dropped, 'bad row')} left out")
    if d.rows_sorted:
        parts.append(f"{counted(d.rows_sorted, 'row')} put into time order")
    source = and_more(d.sources, most=3)
    return [f"trace: {source or d.format} ({d.format}): {'; '.join(parts)}", *(f"note: {note}" for note in d.notes)]
