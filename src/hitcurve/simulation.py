"""Simulation of eviction policies, request by request: the only caller of policies."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from hitcurve.errors import BadParameter, SimulationError
from hitcurve.kernels import frame as places
from hitcurve.kernels.frame import Frame
from hitcurve.kernels.loop import NO_PROGRESS, NOT_RESIDENT, OVER_CAPACITY
from hitcurve.policies import policy_named
from hitcurve.trace import Trace


def new_frame(trace: Trace, capacity: int, cost: np.ndarray, *, pin=True, deepest_first=True, next_use=False, hole_log=0):
    """An empty cache of ``capacity`` blocks before the first request of ``trace``; ``cost`` float64 a position."""
    n = trace.n_requests
    blocks = trace.request_blocks
    distinct = blocks  # TODO raw
    numbers = np.zeros(9, np.int64)
    numbers[places.CAPACITY] = capacity
    numbers[places.PIN] = pin
    numbers[places.DEEPEST_FIRST] = deepest_first
    full = np.full(n, 2**62, np.int64)
    if trace.input_tokens is not None and trace.definition.block_size:
        full = trace.input_tokens // trace.definition.block_size
    runs = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32))
    if next_use:
        from hitcurve.kernels.next_use import next_uses

        runs = next_uses(trace.span_offsets, trace.span_first, trace.span_length, distinct <= capacity, blocks, trace.n_blocks)
    return Frame(
        span_offsets=trace.span_offsets,
        span_first=trace.span_first,
        span_length=trace.span_length,
        arrival_ns=trace.arrival_ns,
        distinct=distinct,
        full_blocks=full,
        cost=(np.floor(np.abs(cost) + 0.5) * np.sign(cost)).astype(np.int64),
        cost_sum=np.concatenate([[0.0], np.cumsum(cost)]),
        next_offsets=runs[0],
        next_first=runs[1],
        next_length=runs[2],
        next_use=np.full(trace.n_blocks if next_use else 0, places.NEVER, np.int64),
        resident=np.zeros(trace.n_blocks, np.uint8),
        requested=np.zeros(trace.n_blocks, np.uint8),
        numbers=numbers,
        served=np.zeros(n, np.uint8),
        hits=np.zeros(n, np.int32),
        full_hits=np.zeros(n, np.int32),
        prefix_hits=np.zeros(n, np.int32),
        full_prefix_hits=np.zeros(n, np.int32),
        saved=np.zeros(n, np.float64),
        holes=np.zeros(n, np.int32),
        longest_hole=np.zeros(n, np.int32),
        evictions=np.zeros(n, np.int32),
        self_evictions=np.zeros(n, np.int32),
        hole_log=np.empty((hole_log, 3), np.int32),
    )
