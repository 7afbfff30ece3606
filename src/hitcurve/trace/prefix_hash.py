"""The prefix hash of Tair's KV cache manager: content keys of blocks made into keys of paths.

    h' = h xor (v + 0x9e3779b97f4a7c15 + (h << 12) + (h >> 32)),  unsigned 64-bit, starting with h = 0

Only for files that other programs compare with theirs: inside hitcurve no hash stands for a block (see ``interning``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve._jit import entry, helper


@helper
def next_key(h, raw):
    """The key of a block, from that of the block before it and its own; all uint64."""
    return h ^ (raw + np.uint64(0x9E3779B97F4A7C15) + (h << np.uint64(12)) + (h >> np.uint64(32)))


@entry
def coarsen(raw, offsets, factor, chained, keys, key_offsets):
    """Every ``factor``-th key of each request ``raw[offsets[r]:offsets[r+1]]``, after chaining where ``chained``.

    ``raw``, ``keys`` uint64; ``keys`` (at most as many) and ``key_offsets`` int64 (requests + 1,) are written.
    """
    n = 0
    key_offsets[0] = 0
    for r in range(len(offsets) - 1):
        h = np.uint64(0)
        waiting = factor
        for i in range(offsets[r], offsets[r + 1]):
            h = next_key(h, raw[i]) if chained else raw[i]
            waiting -= 1
            if waiting == 0:
                keys[n] = h
                n += 1
                waiting = factor
        key_offsets[r + 1] = n


@entry
def chain_down(raw, parents, keys):
    """The chained keys of blocks of many paths; ``parents`` int32: the block before each, always earlier, or -1."""
    for block in range(len(raw)):
        h = keys[parents[block]] if parents[block] >= 0 else np.uint64(0)
        keys[block] = next_key(h, raw[block])


def prefix_hash(raw: Any) -> np.ndarray:
    """The chained keys, int64, of one request's block keys (int64; values up to 2**64 - 1 wrap).  O(blocks).

    >>> prefix_hash([1, 2]).tolist()
    [-7046029254386353130, -8366447756632839738]
    """
    values = np.asarray(raw)
    if values.dtype.kind not in "iu":
        values = np.array([int(value) % 2**64 for value in raw], np.uint64)
    words = np.ascontiguousarray(values.astype(np.int64, copy=False)).view(np.uint64)
    keys = np.empty_like(words)
    coarsen(words, np.array([0, len(words)]), 1, True, keys, np.empty(2, np.int64))
    return keys.view(np.int64)


def prefix_hash_of_blocks(raw: np.ndarray, parents: np.ndarray) -> np.ndarray:
    """The chained keys, int64 (n_blocks,), of all blocks of a trace from their own keys and parents (-1: a root)."""
    words = np.ascontiguousarray(raw, np.int64).view(np.uint64)
    keys = np.empty_like(words)
    chain_down(words, np.ascontiguousarray(parents, np.int32), keys)
    return keys.view(np.int64)
