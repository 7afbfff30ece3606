"""libCacheSim's own caches behind the request loop, without pins, deepest block first.

``answers`` runs them in a child process, because some die on small caches: a case is [cache class, capacity, requests],
its answer {hits, skipped, evictions, self_evictions}, or None where the peer left the loop's rules: it crashed, refused
a block, or evicted during an access.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

Case = tuple[str, int, list[list[int]]]


def answers(cases: list[Case]) -> list[dict[str, int] | None]:
    found: list[dict[str, int] | None] = []
    while len(found) < len(cases):
        child = subprocess.run(
            [sys.executable, __file__], input=json.dumps(cases[len(found) :]), stdout=subprocess.PIPE, text=True
        )
        found += [json.loads(line) for line in child.stdout.splitlines()]
        if len(found) < len(cases):
            found.append(None)  # died of this one
    return found


def served(kind: str, capacity: int, requests: list[list[int]]) -> dict[str, int] | None:
    import libcachesim

    cache = getattr(libcachesim, kind)(capacity, hashpower=12)
    access: Any = libcachesim.Request()
    access.obj_size = 1
    known = sorted({block for blocks in requests for block in blocks})

    def ask(question: Any, block: int, *rest: Any) -> Any:
        access.obj_id = block + 1
        return question(access, *rest)

    def resident(blocks: list[int]) -> set[int]:
        return {block for block in blocks if ask(cache.find, block, False) is not None}

    upcoming = next_accesses([blocks if len(blocks) <= capacity else [] for blocks in requests])
    total = {"hits": 0, "skipped": 0, "evictions": 0, "self_evictions": 0}
    for blocks, following in zip(requests, upcoming, strict=True):
        if len(blocks) > capacity:
            total["skipped"] += 1
            continue
        present, before = resident(blocks), resident(known)
        total["hits"] += len(present)
        needed = len(blocks) - len(present) - (capacity - len(before))
        idle = 0
        while needed > 0:
            ask(cache.evict, next(block for block in blocks if block not in present))
            after = resident(known)
            victims, before = before - after, after
            total["evictions"] += len(victims)
            total["self_evictions"] += len(victims & set(blocks))
            needed -= len(victims - set(blocks))
            idle = 0 if victims else idle + 1
            if idle > capacity + 16:
                return None
        for block, access.next_access_vtime in reversed(list(zip(blocks, following, strict=True))):
            ask(cache.get, block)
        if resident(known) != before | set(blocks):
            return None
    return total


def next_accesses(requests: list[list[int]]) -> list[list[int]]:
    """Number of the access that uses each position's block again (accesses numbered forward), for Belady's caches."""
    numbers = iter(range(1, 1 + sum(map(len, requests))))
    accesses = [[(block, next(numbers)) for block in blocks] for blocks in requests]
    ahead: dict[int, int] = {}
    found = []
    for request in reversed(accesses):
        found.append([ahead.get(block, 2**62) for block, _ in request])
        ahead.update(request)
    return found[::-1]


if __name__ == "__main__":
    for case in json.load(sys.stdin):
        print(json.dumps(served(*case)), flush=True)
