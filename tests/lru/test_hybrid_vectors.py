"""The reference's own vectors for hybrid models: the slow twin meets them, and so do the cores."""

from __future__ import annotations

import pytest

from tests.naive.hybrid import NaiveHybrid, Pool, hits_at


def of_kind(vectors, kind):
    found = [v for v in vectors("litehit") if v["kind"] == kind]
    assert found
    return found


def test_pool(vectors):
    for vector in of_kind(vectors, "weighted_pool"):
        pool = Pool(vector["full_charge"], vector["linear_charge"])
        for kind, key in vector["touches"]:
            pool.touch((kind, key))
        for wanted in vector["expected"]["required_bytes"]:
            assert pool.required_bytes(tuple(wanted["object"])) == wanted["bytes"], vector["name"]
        assert pool.resident_bytes() == vector["expected"]["resident_bytes"]


def test_linear_bytes(vectors):
    for vector in of_kind(vectors, "linear_bytes"):
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
        assert expired == expected.get("ttl_expired_full_after", expired)
        for wanted in expected.get("projections", []):
            assert hits_at(points[wanted["request"]], wanted["capacity_bytes"]) == wanted["hits"]


def test_a_full_block_has_bytes():
    with pytest.raises(ValueError, match="bytes"):
        NaiveHybrid(0, 1, 1)
