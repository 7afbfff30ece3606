"""The two cores of hybrid models, run on one trace; and their progressions as points."""

from __future__ import annotations

import numpy as np

from hitcurve.kernels.envelope import Points, new_points
from hitcurve.lru.hybrid_block_level import new_objects, replay_hybrid_requests
from hitcurve.lru.hybrid_run_level import follow_hybrid_requests, new_rows
from hitcurve.lru.run_level import Requests
from hitcurve.trace import Trace


def kernel_points(trace: Trace, step: int, method: str) -> Points:
    """The progressions of a whole trace, in arrays of just their length."""
    n = trace.n_requests
    requests = Requests(trace.arrival_ns, trace.span_offsets, trace.span_first, trace.span_length)
    points = new_points(n, 4 * n * n + trace.n_block_refs)
    if method == "run":
        assert follow_hybrid_requests(requests, new_rows(n, trace.n_blocks), points, step, 0, n) == n
    else:
        objects = new_objects(trace.n_blocks, int(trace.request_blocks.max(initial=0)))
        assert replay_hybrid_requests(requests, objects, points, step, 0, n) == n
    used = points.offsets[-1]
    return Points(points.offsets, *(column[:used] for column in points[1:]))


def single_points(points: Points, step: int, full: int, linear: int) -> list[list[tuple[int, int, int]]]:
    """(capacity in bytes, hit blocks, age) of each point of each request, one by one."""
    found = []
    for begin, end in zip(points.offsets, points.offsets[1:], strict=False):
        rows = zip(*(column[begin:end].tolist() for column in points[1:]), strict=True)
        found.append(
            [
                (full * (blocks + k * step) + linear * (states + k), hits + k * step, age)
                for blocks, states, hits, count, age in rows
                for k in range(count)
            ]
        )
    return found


def same(one: Points, other: Points) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
