"""Requests of a key-per-block trace, brought to the block size of the cache as LiteHit does it."""

from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.trace.prefix_hash import coarsen, prefix_hash


def normalize_request(
    keys: Any,
    input_token_len: int,
    block_size_tokens: int,
    enable_prefix_hash: bool = False,
    trace_block_size_tokens: int = 0,
) -> tuple[int, np.ndarray]:
    """``(input tokens, block keys int64)`` of one request.

    ``keys`` hold one key for each *full* block of ``trace_block_size_tokens`` tokens (0: ``block_size_tokens``), so
    there are exactly ``input_token_len // trace_block_size_tokens``; a length of 0 means that all tokens are in full
    blocks.  First the keys are chained (if asked for), then every k-th is kept, and what is left over is dropped.

    BadParameter in every other case.  O(keys).

    >>> normalize_request([1, 2, 3, 4, 5], 21, 8, trace_block_size_tokens=4)
    (21, array([2, 4]))
    """
    if block_size_tokens <= 0:
        raise BadParameter(f"block_size_tokens: wanted >= 1, found {block_size_tokens}")
    if input_token_len < 0:
        raise BadParameter(f"input_token_len: wanted >= 0, found {input_token_len}")
    fine = trace_block_size_tokens or block_size_tokens
    if fine < 0 or block_size_tokens % fine:
        raise BadParameter(f"block_size_tokens: wanted a multiple of {fine}, found {block_size_tokens}")
    length = input_token_len or len(keys) * fine
    if len(keys) != length // fine:
        raise BadParameter(
            f"keys: wanted {length // fine}, one for each full block of {fine} of {length} tokens, found {len(keys)}"
        )
    own = prefix_hash(keys) if enable_prefix_hash else np.asarray(keys, np.int64)
    factor = block_size_tokens // fine
    return length, own[factor - 1 :: factor]


def normalize_requests(
    keys: np.ndarray, offsets: np.ndarray, factor: int, enable_prefix_hash: bool
) -> tuple[np.ndarray, np.ndarray]:
    """The same for the keys of many requests, already checked: request r has ``keys[offsets[r]:offsets[r+1]]``.

    First the keys (int64) are chained, if asked for; then every ``factor``-th is kept.  Returns keys and offsets, both
    int64; they are the ones given where there is nothing to do.  O(keys).
    """
    if factor == 1 and not enable_prefix_hash:
        return keys, offsets
    words = np.ascontiguousarray(keys, np.int64).view(np.uint64)
    kept, kept_offsets = np.empty(len(words) // factor, np.uint64), np.empty_like(offsets)
    coarsen(words, offsets, factor, enable_prefix_hash, kept, kept_offsets)
    return kept[: kept_offsets[-1]].view(np.int64), kept_offsets
