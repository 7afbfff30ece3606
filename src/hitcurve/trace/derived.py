"""What the spans of a trace imply: chains, depth and parent of each block, who shares it, who holds it next.

A *chain* is a maximal stretch of consecutive ids, each the child of the one before, and one deeper.  Chains are few,
one for each place where a request leaves a known path, and everything about blocks counts up by one along them:

    requests                blocks            chains
    a b c d e               0 1 2 3 4         first 0, depth 0, parent -1     a b c d e
    a b c x y               0 1 2 | 5 6       first 5, depth 3, parent  2           x y
    a b c x z               0 1 2 | 5 | 7     first 7, depth 4, parent  5             z

In a trace that is no tree (``contract`` False) depth and parent are those of a block's first appearance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry
from hitcurve.trace.trace import Trace


class Chains(NamedTuple):
    """One row a chain, in order of ``first``."""

    first: np.ndarray  # int32: its first block
    depth: np.ndarray  # int32: position of that block in every request that holds it
    parent: np.ndarray  # int32: the block before it, or -1 at a root

    def of_blocks(self, blocks: np.ndarray) -> np.ndarray:
        """int64: the chain of each block.  O(blocks log chains)."""
        return np.searchsorted(self.first, blocks, side="right") - 1


def span_positions(trace: Trace) -> np.ndarray:
    """int64 (spans,): position of each span's first block in its request.  O(spans)."""
    ends = np.concatenate([[0], np.cumsum(trace.span_length, dtype=np.int64)])
    at_request = np.repeat(ends[trace.span_offsets[:-1]], np.diff(trace.span_offsets))
    return ends[:-1] - at_request


def chains(trace: Trace) -> Chains:
    """All chains.  O(spans)."""
    first, end = trace.span_first.astype(np.int64), trace.span_first.astype(np.int64) + trace.span_length
    seen = np.concatenate([[0], np.maximum.accumulate(end)])[:-1]
    new = np.flatnonzero(end > seen)  # spans that bring new blocks: those from ``start`` on
    start = np.maximum(first[new], seen[new])
    position = span_positions(trace)[new]
    depth = position + start - first[new]
    before = np.where(position > 0, end[new - 1] - 1, -1)
    parent = np.where(start > first[new], start - 1, before)
    goes_on = (parent == start - 1) & (parent >= 0)
    goes_on[1:] &= np.diff(depth) == np.diff(start)  # always, in a tree
    starts = ~goes_on
    return Chains(*(column[starts].astype(np.int32) for column in (start, depth, parent)))


def depths(trace: Trace) -> np.ndarray:
    """int32 (n_blocks,): position of each block in the requests that hold it.  O(spans + blocks)."""
    own = chains(trace)
    size = np.diff(np.append(own.first, trace.n_blocks))
    return np.arange(trace.n_blocks, dtype=np.int32) - np.repeat(own.first - own.depth, size).astype(np.int32)


def parents(trace: Trace) -> np.ndarray:
    """int32 (n_blocks,): the block before each block, -1 at a root.  O(spans + blocks)."""
    own = chains(trace)
    parent = np.arange(-1, trace.n_blocks - 1, dtype=np.int32)
    parent[own.first] = own.parent
    return parent


def sharing(trace: Trace) -> np.ndarray:
    """int64 (n_blocks,): references to each block; in a tree, the requests that hold it.  O(spans + blocks)."""
    first = trace.span_first.astype(np.int64)
    size = trace.n_blocks + 1
    starts = np.bincount(first, minlength=size)
    stops = np.bincount(first + trace.span_length, minlength=size)
    return np.cumsum(starts - stops)[:-1]


def is_namespaced(trace: Trace) -> bool:
    """Whether two roots have one raw id, so that raw ids alone do not tell blocks apart.  O(spans)."""
    if trace.raw_ids is None or trace.definition.identity == "raw":
        return trace.raw_ids is not None and len(np.unique(trace.raw_ids.codes)) < trace.n_blocks
    own = chains(trace)
    roots = trace.raw_ids.codes[own.first[own.parent == -1]]
    return len(np.unique(roots)) < len(roots)


class NextHolders(NamedTuple):
    """For each request the runs of its positions that one later request is the next to hold.

    Request r has the runs ``offsets[r] .. offsets[r + 1] - 1``, which cover it from its first position to its last.
    """

    offsets: np.ndarray  # int64 (requests + 1,)
    length: np.ndarray  # int32 (runs,): positions in the run
    request: np.ndarray  # int32 (runs,): the next request that holds these blocks, or -1


def next_holders(trace: Trace) -> NextHolders:
    """Who holds each block next.  O(spans + runs) in a tree, O(references) otherwise.

    A later request that holds a block holds all of its path too, so along a request the next holders are never earlier.
    """
    spans = trace.span_offsets, trace.span_first, trace.span_length

    def scan(offsets: np.ndarray, length: np.ndarray, request: np.ndarray) -> None:
        holder = np.full(trace.n_blocks, -1, np.int32)
        if trace.contract:
            next_in_tree(*spans, holder, np.zeros((trace.n_requests, 2), np.int64), offsets, length, request)
        else:
            next_by_block(*spans, holder, offsets, length, request)

    counts = np.zeros(trace.n_requests + 1, np.int64)
    scan(counts, np.empty(0, np.int32), np.empty(0, np.int32))
    offsets = np.cumsum(counts)
    length, request = np.empty(offsets[-1], np.int32), np.empty(offsets[-1], np.int32)
    if len(length):
        scan(offsets, length, request)
    return NextHolders(offsets, length, request)


@entry
def next_in_tree(span_offsets, span_first, span_length, owner, rest, offsets, length, request):
    """Last request first: each later request owns the end of its path, from the first block that no nearer one holds.

    owner int32 (blocks,): all -1; the request whose rest starts at the block.  rest int64 (requests, 2): where in its
    spans (span, position in it).  Where ``length`` is empty, count the runs of request r into ``offsets[r + 1]``;
    otherwise write them from ``offsets[r]`` on.
    """
    for r in range(len(offsets) - 2, -1, -1):
        s, end = span_offsets[r], span_offsets[r + 1]
        root, at, n = s, 0, 0
        while s < end:
            block = span_first[s] + at
            q = owner[block]
            run = 0
            if q < 0:  # nobody later: nor for all that follows
                while s < end:
                    run += span_length[s] - at
                    s += 1
                    at = 0
            else:
                owner[block] = -1
                t, q_end, q_at = rest[q, 0], span_offsets[q + 1], rest[q, 1]
                while s < end and t < q_end and span_first[s] + at == span_first[t] + q_at:
                    common = min(span_length[s] - at, span_length[t] - q_at)
                    run += common
                    at += common
                    q_at += common
                    if at == span_length[s]:
                        s += 1
                        at = 0
                    if q_at == span_length[t]:
                        t += 1
                        q_at = 0
                if t < q_end:
                    owner[span_first[t] + q_at] = q
                    rest[q, 0] = t
                    rest[q, 1] = q_at
            if len(length):
                length[offsets[r] + n] = run
                request[offsets[r] + n] = q
            n += 1
        if root < end:
            owner[span_first[root]] = r
            rest[r, 0] = root
            rest[r, 1] = 0
        if not len(length):
            offsets[r + 1] = n


@entry
def next_by_block(span_offsets, span_first, span_length, holder, offsets, length, request):
    """The same from ``holder`` int32 (blocks,), all -1: the next holder of each block, where ids are no tree."""
    for r in range(len(offsets) - 2, -1, -1):
        n, before = 0, np.int32(-2)
        for s in range(span_offsets[r], span_offsets[r + 1]):
            for block in range(span_first[s], span_first[s] + span_length[s]):
                q = holder[block]
                if q != before:
                    if len(length):
                        length[offsets[r] + n] = 0
                        request[offsets[r] + n] = q
                    n += 1
                    before = q
                if len(length):
                    length[offsets[r] + n - 1] += 1
        for s in range(span_offsets[r], span_offsets[r + 1]):
            for block in range(span_first[s], span_first[s] + span_length[s]):
                holder[block] = r
        if not len(length):
            offsets[r + 1] = n
