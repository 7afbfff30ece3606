"""Interning with dictionaries: a block is its whole path (prefix), or its id (raw), within a namespace."""

from __future__ import annotations

from typing import Any


def key_of(raw: Any) -> tuple[str, Any]:
    """1, "1" and b"1" are three ids."""
    return type(raw).__name__, raw


def interned(
    requests: list[list[Any]], namespaces: list[int], identity: str
) -> tuple[list[list[int]], list[Any], bool]:
    """Dense ids of all requests, raw ids in order of the dense ones, and whether ids form a tree."""
    numbers: dict[Any, int] = {}
    raws: list[Any] = []
    parent: dict[int, int | None] = {}
    tree = True
    result = []
    for request, namespace in zip(requests, namespaces, strict=True):
        dense: list[int] = []
        for i, raw in enumerate(request):
            path = tuple(key_of(r) for r in request[: i + 1]) if identity == "prefix" else key_of(raw)
            name = (namespace, path)
            if name not in numbers:
                numbers[name] = len(numbers)
                raws.append(raw)
            block = numbers[name]
            before = dense[-1] if dense else None
            tree = tree and parent.setdefault(block, before) == before
            dense.append(block)
        result.append(dense)
    return result, raws, tree
