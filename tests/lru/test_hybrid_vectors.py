"""The reference's own vectors for hybrid models: the slow twin meets them, and so do the cores."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hitcurve.kernels.envelope import STATE
from hitcurve.kernels.fenwick import sum_up_to
from hitcurve.lru import HybridStack, LruStack, hybrid_facts
from hitcurve.lru.byte_projection import Charges
from hitcurve.lru.hybrid_block_level import new_objects, touch
from hitcurve.trace import Trace
from tests.naive.hybrid import NaiveHybrid, Pool, hits_at


def test_pool(litehit):
    for vector in litehit("weighted_pool"):
        pool = Pool(vector["full_charge"], vector["linear_charge"])
        for kind, key in vector["touches"]:
            pool.touch((kind, key))
        for wanted in vector["expected"]["required_bytes"]:
            assert pool.required_bytes(tuple(wanted["object"])) == wanted["bytes"], vector["name"]
        assert pool.resident_bytes() == vector["expected"]["resident_bytes"]


def test_pool_of_the_block_level(litehit):
    """Objects touched one by one; 42, 1, 2 ... are dense ids here."""
    for vector in litehit("weighted_pool"):
        charges = Charges(vector["full_charge"], vector["linear_charge"], 1)
        objects = new_objects(50, 50)
        for kind, key in vector["touches"]:
            touch(objects, 2 * key + (kind == "L"), 0)
        for wanted in vector["expected"]["required_bytes"]:
            kind, key = wanted["object"]
            position = int(objects.last[2 * key + (kind == "L")])
            room = int(objects.n[3]) - int(sum_up_to(objects.live, position - 1))
            required = charges.bytes_of(room % STATE, room // STATE) if position else None
            assert required == wanted["bytes"], vector["name"]
        everything = int(objects.n[3])
        assert charges.bytes_of(everything % STATE, everything // STATE) == vector["expected"]["resident_bytes"]


def test_linear_bytes_by_the_stack(litehit):
    told = 0
    for vector in litehit("linear_bytes"):
        expected, ttl = vector["expected"], vector["ttl"] or None
        stack = HybridStack(vector["full_charge"], vector["linear_charge"], vector["step_blocks"], "raw")
        blocks, expired = LruStack("raw"), 0
        points, resident, unique, expired_after = [], [], [], []
        for request in vector["requests"]:
            now = request["timestamp"]
            points.append([[c, h] for c, h, age in stack.process(request["keys"], now) if ttl is None or age < ttl])
            expired += sum(n for _, n, age in blocks.process(request["keys"], now) if ttl is not None and age >= ttl)
            resident.append(stack.resident_bytes(now, ttl))
            unique.append(stack.live_blocks(now, ttl))
            expired_after.append(expired + stack.n_blocks - unique[-1])
        assert points == expected["byte_points"], vector["name"]
        assert resident == expected["resident_bytes_after"]
        assert unique == expected["unique_full_after"]
        if "ttl_expired_full_after" in expected:
            told += 1
            assert expired_after == expected["ttl_expired_full_after"]
    assert told == 3


@pytest.mark.parametrize("method", ["run", "block"])
def test_linear_bytes_by_the_facts(litehit, method):
    for vector in litehit("linear_bytes"):
        keys, times = [r["keys"] for r in vector["requests"]], [r["timestamp"] for r in vector["requests"]]
        seconds = [Fraction(t, 10**9) for t in times]
        facts = hybrid_facts(
            Trace.of_requests(keys, times=seconds, identity="raw"),
            full_bytes=vector["full_charge"],
            linear_bytes=vector["linear_charge"],
            linear_step_blocks=vector["step_blocks"],
            method=method,
        )
        ttl = Fraction(vector["ttl"], 10**9) if vector["ttl"] else None
        found = [[list(point[:2]) for point in facts.request_points(r, ttl)] for r in range(len(keys))]
        assert found == vector["expected"]["byte_points"], vector["name"]
        for wanted in vector["expected"].get("projections", []):
            hits = facts.hits_per_request(wanted["capacity_bytes"], ttl)
            assert hits[wanted["request"]] == wanted["hits"]


def test_linear_bytes(litehit):
    told = 0
    for vector in litehit("linear_bytes"):
        expected = vector["expected"]
        twin = NaiveHybrid(vector["full_charge"], vector["linear_charge"], vector["step_blocks"], vector["ttl"] or None)
        points, resident, unique, expired = [], [], [], []
        for request in vector["requests"]:
            points.append([list(p[:2]) for p in twin.process(request["keys"], request["timestamp"])])
            resident.append(twin.resident_bytes())
            unique.append(twin.unique_full())
            expired.append(twin.expired_full)
        assert points == expected["byte_points"], vector["name"]
        assert resident == expected["resident_bytes_after"]
        assert unique == expected["unique_full_after"]
        if "ttl_expired_full_after" in expected:
            told += 1
            assert expired == expected["ttl_expired_full_after"]
        for wanted in expected.get("projections", []):
            assert hits_at(points[wanted["request"]], wanted["capacity_bytes"]) == wanted["hits"]
    assert told == 3


def test_a_full_block_has_bytes():
    with pytest.raises(ValueError, match="bytes"):
        NaiveHybrid(0, 1, 1)
