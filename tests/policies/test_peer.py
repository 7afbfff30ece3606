"""Without pins, deterministic policies equal libCacheSim's own caches, hit for hit, wherever those survive the loop."""

from __future__ import annotations

import random

import pytest

from hitcurve.simulation import Simulation
from hitcurve.trace import Trace
from tests.policies.peer import answers
from tests.policies.trees import conversations

pytest.importorskip("libcachesim")

PEERS = {
    "lru": "LRU",
    "fifo": "FIFO",
    "clock": "Clock",
    "sieve": "Sieve",
    "slru": "SLRU",
    "size": "Size",
    "lfu": "LFU",
    "lfuda": "LFUDA",
    "arc": "ARC",
    "twoq": "TwoQ",
    "s3fifo": "S3FIFO",
    "gdsf": "GDSF",
    "belady": "Belady",
}


def traces() -> list[Trace]:
    """Single blocks, bushy trees and conversations."""
    rng = random.Random(7)
    single = [[[rng.randrange(k)] for _ in range(150)] for k in (12, 40)]
    bushy = [[[rng.randrange(k) for _ in range(rng.randrange(9))] for _ in range(60)] for k in (2, 3)]
    return [Trace.of_requests(requests) for requests in (*single, *bushy, conversations(3, n=60, longest=18))]


@pytest.mark.parametrize("name", PEERS)
def test_equals_the_peer(name):
    cases = [(trace, capacity) for trace in traces() for capacity in (2, 3, 5, 8, 13, 20, 24, 37)]
    paths = {id(trace): [trace.blocks(r).tolist() for r in range(trace.n_requests)] for trace, _ in cases}
    expected = answers([(PEERS[name], capacity, paths[id(trace)]) for trace, capacity in cases])
    compared = 0
    for (trace, capacity), wanted in zip(cases, expected, strict=True):
        if wanted is None:
            continue
        compared += 1
        counts = Simulation(trace, name, capacity, pin=False).run().result().as_dict()
        found = {
            "hits": counts["n_block_hits"],
            "skipped": counts["n_req_skipped"],
            "evictions": counts["n_eviction"],
            "self_evictions": counts["n_self_eviction"],
        }
        assert found == wanted, f"capacity {capacity}"
    assert compared >= len(cases) // 4, "hardly anything was compared"
