"""Run as a program: random traces through all passes, compared with naive caches, and a digest of all facts.

What runs here compiled must run the same as plain Python and under bounds checks: ``test_modes.py`` compares.
"""

from __future__ import annotations

import hashlib
import random

from hitcurve.lru import LruStack, lru_facts
from hitcurve.trace import Trace
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
    return total.hexdigest()


if __name__ == "__main__":
    print(digest(36))
