"""When each position of a served request is used again: one backward pass, kept as runs.

Accesses are numbered from 1 in forward order over all *served* requests (requests that do not fit are never accessed).
The next uses along a request's path are consecutive numbers wherever one later request takes over the whole stretch,
so a request needs only a few runs ``(number of the first, length)``; ``NEVER`` runs are constant.
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import entry
from hitcurve.kernels.frame import NEVER


@entry
def scan_next_uses(span_offsets, span_first, span_length, numbered, ahead, run_counts, run_first, run_length):
    """Count the runs of each request, or (where ``run_first`` has room) write them, last request first.

    numbered int64 (requests,): number of the request's first access, or 0 if it is not served.  ahead int64 (blocks,):
    all NEVER; scratch.  run_counts int64 (requests,): written.  run_first int64, run_length int32: filled from the end.
    """
    at = len(run_first)
    writing = at > 0
    for r in range(len(numbered) - 1, -1, -1):
        n_runs = 0
        if numbered[r]:
            position = 0
            for s in range(span_offsets[r], span_offsets[r + 1]):
                position += span_length[s]
            expected = np.int64(-1)
            for s in range(span_offsets[r + 1] - 1, span_offsets[r] - 1, -1):
                for block in range(span_first[s] + span_length[s] - 1, span_first[s] - 1, -1):
                    position -= 1
                    following = ahead[block]
                    ahead[block] = numbered[r] + position
                    if following != expected:
                        n_runs += 1
                        if writing:
                            at -= 1
                            run_length[at] = 0
                    if writing:
                        run_first[at] = following
                        run_length[at] += 1
                    expected = following if following == NEVER else following - 1
        run_counts[r] = n_runs


def next_uses(span_offsets, span_first, span_length, served, request_blocks, n_blocks):
    """``(offsets, first, length)`` of the runs of all requests, in request order.

    served bool (requests,), request_blocks int64 (requests,).  O(references), two passes.
    """
    counted = np.where(served, request_blocks, 0)
    numbered = np.where(served, np.cumsum(counted) - counted + 1, 0)
    counts = np.empty(len(served), np.int64)
    spans = (span_offsets, span_first, span_length, numbered)
    scan_next_uses(*spans, np.full(n_blocks, NEVER), counts, np.empty(0, np.int64), np.empty(0, np.int32))
    offsets = np.concatenate([[0], np.cumsum(counts)])
    first, length = np.empty(offsets[-1], np.int64), np.empty(offsets[-1], np.int32)
    if len(first):
        scan_next_uses(*spans, np.full(n_blocks, NEVER), counts, first, length)
    return offsets, first, length
