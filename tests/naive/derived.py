"""Depth, parent, sharing and next holder of blocks from the plain lists of ids, one reference at a time."""

from __future__ import annotations


def depths_and_parents(requests: list[list[int]]) -> tuple[list[int], list[int]]:
    """Of each block's first appearance, in order of first appearance."""
    depth: dict[int, int] = {}
    parent: dict[int, int] = {}
    for request in requests:
        for position, block in enumerate(request):
            if block not in depth:
                depth[block] = position
                parent[block] = request[position - 1] if position else -1
    return list(depth.values()), list(parent.values())


def sharing(requests: list[list[int]], n_blocks: int) -> list[int]:
    return [sum(request.count(block) for request in requests) for block in range(n_blocks)]


def next_holders(requests: list[list[int]]) -> list[list[int]]:
    """For each reference the number of the next request that holds its block, or -1."""
    return [
        [next((q for q in range(r + 1, len(requests)) if block in requests[q]), -1) for block in request]
        for r, request in enumerate(requests)
    ]
