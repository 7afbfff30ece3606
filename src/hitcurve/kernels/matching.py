"""Match: what a request finds, measured stretch by stretch of resident and missing positions.  Read-only."""

from __future__ import annotations

from hitcurve._jit import helper
from hitcurve.kernels.frame import FIRST_MISSING, N_HOLES


@helper
def match_stretches(frame, r, stretch_at):
    """Fill the request's measures.

    ``stretch_at(resident, block, end)`` -> (here, stop): whether ``block`` is resident, and where the stretch of blocks
    ends, at most at ``end``, that all are or all are not.
    """
    position = 0
    hits = 0
    holes = 0
    hole_start = -1
    longest = 0
    saved = 0.0
    full = frame.full_blocks[r]
    full_hits = 0
    prefix = -1
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        block = frame.span_first[s] + 0
        end = block + frame.span_length[s]
        while block < end:
            here, stop = stretch_at(frame.resident, block, end)
            n = stop - block
            if here:
                if hole_start >= 0:
                    longest = max(longest, position - hole_start)
                    if len(frame.hole_log):
                        log_hole(frame, r, hole_start, position - hole_start)
                    hole_start = -1
                hits += n
                full_hits += max(0, min(full, position + n) - position)
                saved += frame.cost_sum[position + n] - frame.cost_sum[position]
            else:
                if hole_start < 0:
                    holes += 1
                    hole_start = position
                if prefix < 0:
                    prefix = position
                    frame.numbers[FIRST_MISSING] = block
            position += n
            block = stop
    if hole_start >= 0:
        longest = max(longest, position - hole_start)
        if len(frame.hole_log):
            log_hole(frame, r, hole_start, position - hole_start)
    if prefix < 0:
        prefix = position
    frame.served[r] = 1
    frame.hits[r] = hits
    frame.full_hits[r] = full_hits
    frame.prefix_hits[r] = prefix
    frame.full_prefix_hits[r] = min(prefix, full)
    frame.saved[r] = saved
    frame.holes[r] = holes
    frame.longest_hole[r] = longest


@helper
def log_hole(frame, r, start, length):
    row = frame.numbers[N_HOLES]
    frame.hole_log[row, 0] = r
    frame.hole_log[row, 1] = start
    frame.hole_log[row, 2] = length
    frame.numbers[N_HOLES] = row + 1
