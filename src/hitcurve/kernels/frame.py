"""The frame of a simulation: the trace's columns, who is resident, the clocks, and what is measured.

The frame owns residency, capacity, pins and counting.  A policy only orders blocks and names victims; it may read all
of the frame and writes none of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper

NEVER = 2**63 - 1

# Places in Frame.numbers.
CAPACITY, OCCUPIED, CLOCK, PIN, DEEPEST_FIRST, REQUEST, FIRST_MISSING, ARRIVING, N_HOLES, NEEDED = range(10)


class Context(NamedTuple):
    """What a policy may ask about requests besides their blocks; empty arrays where it needs none of it.

    A request without a session is a session of its own.
    """

    category: np.ndarray  # int64 (r,): request type and turn as one number from 0 on; all 0 where the trace has neither
    session: np.ndarray  # int64 (r,): numbers from 0 on
    session_next: np.ndarray  # int64 (r,): the session's next served request that holds blocks, or NEVER
    tenant: np.ndarray  # int64 (r,): numbers from 0 on; all 0 where the trace has none
    parent: np.ndarray  # int32 (b,): the block before it, -1 at a root; where ids form no tree, as it first appears
    tree: bool = True  # whether ids form a tree
    block_size: int = 0  # tokens of a full block, 0 where nobody knows


class Frame(NamedTuple):
    """All arrays are indexed by request (r), span (s), position (p) or dense block id (b)."""

    span_offsets: np.ndarray  # int64 (r + 1,)
    span_first: np.ndarray  # int32 (s,)
    span_length: np.ndarray  # int32 (s,)
    arrival_ns: np.ndarray  # int64 (r,)
    blocks: np.ndarray  # int64 (r,): positions of the request
    distinct: np.ndarray  # int64 (r,): distinct blocks of the request; fewer where raw ids repeat inside it
    full_blocks: np.ndarray  # int64 (r,): blocks that are full (the partial tail block has a position >= this)
    cost: np.ndarray  # int64 (p,): what policies see: cost of a position, rounded half away from zero
    cost_sum: np.ndarray  # float64 (p + 1,): exact costs of positions 0 .. p - 1 together
    next_offsets: np.ndarray  # int64 (r + 1,): runs of next uses of a request; empty unless the policy needs them
    next_first: np.ndarray  # int64: number of the access that uses the run's first position again, or NEVER
    next_length: np.ndarray  # int32: positions in the run; their next uses are consecutive numbers (or all NEVER)
    next_use: np.ndarray  # int64 (b,): next access of each block as of its last request; empty as above
    resident: np.ndarray  # uint8 (b,)
    requested: np.ndarray  # uint8 (b,): 1 while an arriving request that needs room holds the block
    numbers: np.ndarray  # int64: see the places above
    context: Context
    # measured, one value a request
    served: np.ndarray  # uint8 (r,): 0 where the request holds more distinct blocks than the capacity
    hits: np.ndarray  # int32 (r,): resident positions
    full_hits: np.ndarray  # int32 (r,): those of full blocks
    prefix_hits: np.ndarray  # int32 (r,): resident positions before the first missing one
    full_prefix_hits: np.ndarray  # int32 (r,)
    saved: np.ndarray  # float64 (r,): cost of the resident positions
    holes: np.ndarray  # int32 (r,): maximal stretches of missing positions
    longest_hole: np.ndarray  # int32 (r,)
    evictions: np.ndarray  # int32 (r,)
    self_evictions: np.ndarray  # int32 (r,): victims that the request itself holds
    overshoots: np.ndarray  # int32 (r,): evictions beyond what was needed
    releases: np.ndarray  # int32 (r,): blocks freed outside the allocation
    hole_log: np.ndarray  # int32 (n, 3): request, start, length of each hole; no rows: not wanted


@helper
def is_pinned(frame, block):
    """True for a block that the arriving request holds, where pins are on.  Cost O(1)."""
    return frame.requested[block] != 0 and frame.numbers[PIN] != 0


@helper
def capacity_of(frame):
    return frame.numbers[CAPACITY]


@helper
def needed_blocks(frame):
    """Victims outside the request that the allocation asks for, as of its beginning."""
    return frame.numbers[NEEDED]


@helper
def request_stamp(frame):
    """One time stamp for all blocks of the request: the clock after its last access (PrefixSim's per-request stamp)."""
    return frame.numbers[ARRIVING]
