"""A trace as Tair optimizer rows: every request one read, every block one key of 64 bits.

A key must stand for its whole path, and no two blocks of an instance may share one.  The first of these that holds is
written: the ids of the file, where they stand for paths; the prefix hash of ids along each path (what LiteHit's
``enable_prefix_hash`` makes of them); the numbers of blocks in order of first appearance.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter, UnsupportedTrace

if TYPE_CHECKING:
    from hitcurve.trace import RawIds, Trace


def write(trace: Trace, path: str | os.PathLike[str], options: Mapping[str, Any]) -> None:
    from hitcurve.formats.writing import write_rows

    kind = options.get("type", "request")
    if kind not in ("request", "get"):
        raise BadParameter(f"type: wanted request or get, found {kind!r}")
    n = trace.n_requests
    first = int(trace.arrival_ns[0]) if n else 1
    columns: dict[str, Any] = {
        "type": [kind] * n,
        "instance_id": instances(trace, str(options.get("instance_id", "instance"))),
        "trace_id": trace.request_id,
        "timestamp_ns": trace.arrival_ns + max(0, 1 - first),  # they must be > 0; ages stay as they are
        "input_len": lengths(trace),
    }
    write_rows(trace, path, columns, "keys", block_keys(trace))


def instances(trace: Trace, nameless: str) -> list[str]:
    """The instance of each request.  UnsupportedTrace where two share a block."""
    if not nameless:
        raise BadParameter("instance_id: wanted a name, found an empty one")
    tenant = trace.tenant
    if tenant is None:
        return [nameless] * trace.n_requests
    if "" in tenant.names:
        raise UnsupportedTrace("a tenant without a name cannot be an instance of Tair rows")
    if nameless in tenant.names and tenant.codes.min(initial=0) < 0:
        raise BadParameter(f"instance_id: {nameless!r} is a tenant already, and some requests have none: name another")
    rows = np.flatnonzero(trace.request_blocks)
    roots = trace.span_first[trace.span_offsets[rows]]
    if not np.array_equal(_tenants_of_blocks(trace)[roots], tenant.codes[rows]):
        raise UnsupportedTrace("tenants share blocks in this trace, which instances of Tair rows cannot")
    return [nameless if code < 0 else tenant.names[code] for code in tenant.codes.tolist()]


def lengths(trace: Trace) -> np.ndarray:
    """int64 (requests,): tokens of each prompt, of which its blocks are the full ones.  UnsupportedTrace if not."""
    size, blocks = trace.definition.block_size, trace.request_blocks
    if size is None:
        raise UnsupportedTrace("Tair rows need the block size: name it (--block-size)")
    known = np.full(trace.n_requests, -1) if trace.input_tokens is None else trace.input_tokens
    tokens = np.where(known < 0, blocks * size, known)
    partial = int((blocks * size > tokens).sum())
    if partial:
        raise UnsupportedTrace(
            f"{partial:,} requests have a partial last block, and Tair rows no key for one: leave it out (--tail drop)"
        )
    for wrong, what in ((blocks != tokens // size, "blocks for"), (tokens == 0, "blocks, and no tokens:")):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise UnsupportedTrace(
                f"request {row + 1} has {blocks[row]} {what} {tokens[row]} tokens; "
                f"Tair rows have one for each {size} tokens, and at least one token"
            )
    return tokens


def block_keys(trace: Trace) -> np.ndarray:
    """int64 (n_blocks,): the key of each block."""
    return next(keys for keys in _candidates(trace) if _tell_apart(trace, keys))


def _candidates(trace: Trace) -> Iterator[np.ndarray]:
    if trace.raw_ids is not None:
        words = _words(trace.raw_ids)
        by_path = trace.definition.identity == "prefix"
        if not by_path or trace.definition.id_kind == "prefix":
            yield words
        if by_path:
            from hitcurve.trace.derived import parents
            from hitcurve.trace.prefix_hash import prefix_hash_of_blocks

            yield prefix_hash_of_blocks(words, parents(trace))
    yield np.arange(trace.n_blocks)


def _words(raw_ids: RawIds) -> np.ndarray:
    """int64 (n_blocks,): each id as a word; of ids that are no whole number of 64 bits, a hash of 64 bits."""
    words = raw_ids.codes
    if not raw_ids.others:
        return words
    others = {code: _word(raw) for code, raw in raw_ids.others.items()}
    codes = np.array(sorted(others), np.int64)
    place = np.searchsorted(codes, words)
    place[place == len(codes)] = 0
    return np.where(codes[place] == words, np.array([others[code] for code in codes.tolist()], np.int64)[place], words)


def _word(raw: str | bytes | int) -> int:
    if isinstance(raw, int) and -(2**63) <= raw < 2**64:
        return raw - 2**64 if raw >= 2**63 else raw
    content = raw if isinstance(raw, bytes) else str(raw).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little", signed=True)


def _tell_apart(trace: Trace, keys: np.ndarray) -> bool:
    """Whether no two blocks of one tenant have one key.  O(blocks log blocks)."""
    tenant = _tenants_of_blocks(trace)
    order = np.lexsort((keys, tenant))
    keys, tenant = keys[order], tenant[order]
    return not bool(((keys[1:] == keys[:-1]) & (tenant[1:] == tenant[:-1])).any())


def _tenants_of_blocks(trace: Trace) -> np.ndarray:
    """int32 (n_blocks,): the tenant of the first request that holds each block, -1: none."""
    if trace.tenant is None:
        return np.full(trace.n_blocks, -1, np.int32)
    return np.repeat(trace.tenant.codes, np.diff(trace.new_block_offsets))
