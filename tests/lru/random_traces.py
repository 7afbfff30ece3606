"""Run as a program: random traces through all passes, compared with naive caches, and a digest of all facts.

What runs here compiled must run the same as plain Python and under bounds checks: ``test_modes.py`` compares.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

from hitcurve.lru import HybridStack, LruStack, hybrid_facts, lru_facts
from hitcurve.trace import Trace
from tests.naive.hybrid import NaiveHybrid
from tests.naive.lru import naive_hits, naive_segments, paths


def requests_of(draw: random.Random, tree: bool) -> tuple[list[list[int]], list[int]]:
    requests: list[list[int]] = []
    times: list[int] = []
    for _ in range(draw.randrange(12)):
        base = draw.choice(requests) if requests and tree else []
        kept = base[: draw.randrange(len(base) + 1)]
        requests.append(kept + [draw.randrange(3) for _ in range(draw.randrange(7))])
        times.append((times[-1] if times else 0) + draw.randrange(3))
    return requests, times


def digest(traces: int) -> str:
    draw = random.Random(7)
    total = hashlib.sha256()
    for i in range(traces):
        tree = i % 3 > 0
        requests, times = requests_of(draw, tree)
        identity = "prefix" if tree else "raw"
        trace = Trace.of_requests(requests, times=times, identity=identity)
        blocks = paths(requests) if tree else requests
        expected = naive_segments(blocks, [t * 10**9 for t in times])
        stack = LruStack(identity)
        assert [stack.process(r, t * 10**9) for r, t in zip(requests, times, strict=True)] == expected
        for method in ("run", "block") if trace.contract else ("block",):
            facts = lru_facts(trace, method)
            assert [facts.segments(r) for r in range(len(requests))] == expected
        for ttl in (None, 1, 3):
            for capacity in (*range(trace.n_blocks + 2), None):
                hits = facts.hits_per_request(capacity, ttl).tolist()
                if trace.contract or capacity is None:
                    assert hits == naive_hits(blocks, times, capacity, ttl)
                total.update(repr(hits).encode())
            total.update(repr([*facts.curve(ttl).rows()]).encode())
        total.update(hybrid_digest(trace, requests, blocks, times, step=(1, 2, 3, 50)[i % 4]))
    return total.hexdigest()


def hybrid_digest(
    trace: Trace, requests: list[list[int]], blocks: list[list[Any]], times: list[int], step: int
) -> bytes:
    """The same trace through a hybrid model; what is digested is its curve."""
    model = {"full_bytes": 7, "linear_bytes": 3, "linear_step_blocks": step}
    twin = NaiveHybrid(7, 3, step)
    expected = [twin.process(b, t * 10**9) for b, t in zip(blocks, times, strict=True)]
    stack = HybridStack(7, 3, step, trace.definition.identity)
    assert [stack.process(r, t * 10**9) for r, t in zip(requests, times, strict=True)] == expected
    now = times[-1] * 10**9 if times else 0
    assert stack.resident_bytes(now) == twin.resident_bytes()
    assert [stack.blocks_within(c, now) for c in range(0, 99, 9)] == [twin.full_within(c) for c in range(0, 99, 9)]
    for method in ("run", "block") if trace.contract else ("block",):
        facts = hybrid_facts(trace, **model, method=method)
        assert [facts.request_points(r) for r in range(len(requests))] == expected
    return repr([*facts.curve(2).rows(), facts.hits_per_request(99).tolist()]).encode()


if __name__ == "__main__":
    print(digest(36))
