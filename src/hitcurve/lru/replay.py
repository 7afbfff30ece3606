"""A trace in, facts out: one replay answers for every capacity and every time to live."""

from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve.errors import UnknownName, UnsupportedTrace
from hitcurve.lru.facts import Facts
from hitcurve.trace import Trace
from hitcurve.trace.interning import grown

METHODS = ("run", "block")


def lru_facts(trace: Trace, method: str | None = None) -> Facts:
    """Replay ``trace`` through an LRU cache of every size at once.

    ``method``: ``run`` works on spans, O(spans + segments x log requests) time and O(requests) memory; ``block`` on
    single blocks, O(references x log unique blocks) and O(unique blocks).  Both give the same facts.  By default
    ``run`` where the ids form a tree (``trace.contract``), else ``block``, whose facts are then a lower bound at
    finite capacities.

    UnsupportedTrace for ``run`` on a trace whose ids form no tree.

    >>> trace = Trace.of_requests([["a", "b", "c"], ["a", "b", "d"], ["a", "b", "c"]])
    >>> facts = lru_facts(trace)
    >>> [facts.segments(r) for r in range(3)]
    [[], [(1, 2, 1000000000)], [(1, 2, 1000000000), (4, 1, 2000000000)]]
    >>> facts.hit_blocks(capacity=3), facts.hit_blocks()
    (4, 5)
    """
    trace = Trace.expected(trace)
    method = chosen_method(trace, method)
    from hitcurve.lru.block_level import new_positions, replay_requests
    from hitcurve.lru.run_level import Requests, Segments, follow_requests, new_runs

    n = trace.n_requests
    requests = Requests(trace.arrival_ns, trace.span_offsets, trace.span_first, trace.span_length)
    replay: Any
    state: Any
    if method == "run":
        replay, state = follow_requests, new_runs(n)
    else:
        replay, state = replay_requests, new_positions(trace.n_blocks, int(trace.request_blocks.max(initial=0)))
    segments = Segments(np.zeros(n + 1, np.int64), *(np.empty(4 * n + 4096, np.int64) for _ in range(3)))
    while replay(requests, state, segments, 0, n) < n:
        segments = Segments(segments.offsets, *(grown(column, 2 * len(column)) for column in segments[1:]))
    start, length, age_ns = (column[: segments.offsets[-1]].copy() for column in segments[1:])
    return Facts(trace, method, trace.contract, segments.offsets, start, length, age_ns)


def chosen_method(trace: Trace, method: str | None) -> str:
    """``method`` if this trace allows it, or for None the best of ``METHODS``."""
    if method is None:
        return "run" if trace.contract else "block"
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    if method == "run" and not trace.contract:
        raise UnsupportedTrace("one id stands after different ids here, so there are no runs: use method='block'")
    return method
