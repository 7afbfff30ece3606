"""A lane: one instance in a run.  Its requests go through one cache of their own, strictly one after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve.formats.tair import TairRows
from hitcurve.lru import HybridStack, LruStack
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.instances import Instance
from hitcurve.projection import INFINITE
from hitcurve.trace.normalize import normalize_requests


class Reads(NamedTuple):
    """Requests of one lane; request r has ``keys[offsets[r]:offsets[r+1]]`` in blocks of the trace's size."""

    trace_ids: list[str]
    timestamp_ns: np.ndarray
    input_len: np.ndarray
    keys: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, rows: TairRows, chosen: np.ndarray) -> Reads:
        """The rows ``chosen`` (ascending row numbers)."""
        if len(chosen) == len(rows):
            return cls(rows.trace_ids, rows.timestamp_ns, rows.input_len, rows.keys, rows.ends)
        keys = [rows.keys[begin:end] for begin, end in zip(rows.ends[chosen], rows.ends[chosen + 1], strict=True)]
        return cls(
            [rows.trace_ids[row] for row in chosen.tolist()],
            rows.timestamp_ns[chosen],
            rows.input_len[chosen],
            np.concatenate(keys) if keys else rows.keys[:0],
            np.concatenate([[0], np.cumsum([len(each) for each in keys], dtype=np.int64)]),
        )


class Lane:
    """The state of one instance.  ``n_requests`` and ``exact`` are about the requests so far."""

    def __init__(self, instance: Instance, trace_block_size: int) -> None:
        self.instance = instance
        self.n_requests = 0
        self._factor = instance.block_size // trace_block_size
        self._stack: LruStack | HybridStack = LruStack("raw")
        if instance.linear_bytes:
            self._stack = HybridStack(instance.block_bytes, instance.linear_bytes, instance.step_blocks, "raw")

    @property
    def exact(self) -> bool:
        """False once keys were met that form no tree: facts are then a lower bound at finite capacities."""
        return self._stack.exact

    def facts(self, reads: Reads) -> FactRows:
        """One row for each request, with ages; then all its blocks are touched."""
        instance, n = self.instance, len(reads.trace_ids)
        keys, offsets = normalize_requests(reads.keys, reads.offsets, self._factor, instance.prefix_hash)
        offsets, first, second, age_ns = self._stack.process_batch(keys, offsets, reads.timestamp_ns)
        self.n_requests += n
        return FactRows(
            reads.trace_ids,
            [instance.instance_id] * n,
            reads.timestamp_ns,
            reads.input_len,
            np.full(n, instance.block_size),
            np.full(n, instance.block_bytes),
            np.full(n, instance.linear_bytes > 0),
            offsets,
            first,
            second,
            age_ns,
            np.full(n, INFINITE if instance.ttl_ns is None else instance.ttl_ns),
        )
