"""A trace and a hybrid model in, facts out: one replay answers for every capacity in bytes and every time to live."""

from __future__ import annotations

from typing import Any

from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.kernels.envelope import Points, new_points
from hitcurve.lru.byte_projection import Charges, points_of_segments, whole
from hitcurve.lru.facts import Facts
from hitcurve.lru.hybrid import HybridFacts
from hitcurve.lru.replay import chosen_method, lru_facts
from hitcurve.lru.run_level import Requests, Segments
from hitcurve.trace import Trace
from hitcurve.trace.interning import grown


def hybrid_facts(
    trace: Trace,
    *,
    full_bytes: int,
    linear_bytes: int,
    linear_step_tokens: int | None = None,
    linear_step_blocks: int | None = None,
    method: str | None = None,
) -> HybridFacts:
    """Replay ``trace`` through LRU caches of every size for a model of full and linear attention layers.

    ``full_bytes``: the cache of the full attention layers for one block; ``linear_bytes``: one state of the linear
    attention (or Mamba) layers.  The engine writes a state at every multiple of ``linear_step_tokens`` (or of
    ``linear_step_blocks``; 0: at every block), and at the end of a request.  With ``linear_bytes`` 0 there are no
    states, and a request can go on from every block: the facts are those of ``lru_facts``, in bytes.

    ``method`` as in ``lru_facts``: ``run``, O(spans + segments x log requests) time; ``block``, O(references x
    log unique blocks), by default only where ids form no tree.  Both give the same facts, and both are exact.

    BadParameter for charges and steps that no model has; UnsupportedTrace for ``linear_step_tokens`` where the block
    size is not known, and for ``run`` on a trace whose ids form no tree.

    >>> trace = Trace.of_requests([["a", "b", "c", "d", "e"]] * 2)
    >>> facts = hybrid_facts(trace, full_bytes=8, linear_bytes=4, linear_step_blocks=2)
    >>> facts.request_points(1)
    [(20, 2, 1000000000), (40, 4, 1000000000), (52, 5, 1000000000)]
    >>> facts.hit_blocks(39), facts.hit_blocks()
    (2, 5)
    """
    trace = Trace.expected(trace)
    step = step_in_blocks(trace, linear_step_tokens, linear_step_blocks)
    charges = Charges.of(full_bytes, linear_bytes, step, trace.n_blocks)
    if not linear_bytes:
        facts = lru_facts(trace, method)
        return HybridFacts(trace, facts.method, facts.exact, charges, points_of_segments(_segments(facts)))
    method = chosen_method(trace, method)
    from hitcurve.lru.hybrid_block_level import new_objects, replay_hybrid_requests
    from hitcurve.lru.hybrid_run_level import follow_hybrid_requests, new_rows

    n = trace.n_requests
    requests = Requests(trace.arrival_ns, trace.span_offsets, trace.span_first, trace.span_length)
    replay: Any
    state: Any
    if method == "run":
        replay, state = follow_hybrid_requests, new_rows(n, trace.n_blocks)
    else:
        longest = int(trace.request_blocks.max(initial=0))
        replay, state = replay_hybrid_requests, new_objects(trace.n_blocks, longest)
    points = new_points(n, 8 * n + 4096)
    while replay(requests, state, points, charges.step, 0, n) < n:
        points = Points(points.offsets, *(grown(column, 2 * len(column)) for column in points[1:]))
    used = points.offsets[-1]
    points = Points(points.offsets, *(column[:used].copy() for column in points[1:]))
    return HybridFacts(trace, method, True, charges, points)


def step_in_blocks(trace: Trace, tokens: Any, blocks: Any) -> Any:
    """The step as blocks, from whichever of both is not None."""
    if (tokens is None) == (blocks is None):
        raise BadParameter("say where states are written: either linear_step_tokens or linear_step_blocks")
    if tokens is None:
        return blocks
    size = trace.definition.block_size
    if size is None:
        raise UnsupportedTrace("linear_step_tokens needs the block size; give linear_step_blocks")
    if whole("linear_step_tokens", tokens, 0) % size:
        raise BadParameter(f"linear_step_tokens: wanted a multiple of the block size {size}, found {tokens}")
    return tokens // size


def _segments(facts: Facts) -> Segments:
    return Segments(facts.segment_offsets, facts.start, facts.length, facts.age_ns)
