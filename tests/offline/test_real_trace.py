"""A real trace of agents: golden hits by capacity and lifetime, from an independent program, through both files."""

from __future__ import annotations

import hitcurve as hc
from hitcurve.offline.run import CSV, PARQUET

NAME = "agentic_a.jsonl.zst"


def test_golden_points(tmp_path, shared, vectors):
    expected = vectors("golden")[NAME]
    size, points = expected["block_size"], expected["points"]
    ttls = dict.fromkeys(point["ttl_ms"] for point in points)
    shortest = min(ttl for ttl in ttls if ttl)
    instances = [hc.Instance("inf", size, 1024), hc.Instance("short", size, 1024, ttl_ns=shortest * 10**6)]
    written = hc.write_facts(shared / "data" / NAME, tmp_path, instances, fanout=True)
    assert written.requests == {"inf": expected["requests"], "short": expected["requests"]}
    capacities = list(dict.fromkeys(point["capacity_blocks"] for point in points))
    found = {}
    for row in hc.query_facts(tmp_path / CSV, capacities).rows():
        found[row["instance_id"], row["capacity"]] = row
    assert found["inf", "inf"]["total_input_tokens"] == expected["input_tokens"]
    for point in points:
        capacity = "inf" if point["capacity_blocks"] is None else str(point["capacity_blocks"])
        if point["ttl_ms"] in (None, shortest):
            row = found["short" if point["ttl_ms"] else "inf", capacity]
            assert row["total_hit_blocks"] == point["hit_blocks"]
            assert row["total_hit_tokens"] == point["full_block_hit_tokens"]
    for ttl in ttls:
        table = hc.query_facts(tmp_path / PARQUET, capacities, ttl=None if ttl is None else ttl / 1000)
        own = [row["total_hit_blocks"] for row in table.rows() if row["instance_id"] == "inf"]
        wanted = {p["capacity_blocks"]: p["hit_blocks"] for p in points if p["ttl_ms"] == ttl}
        assert dict(zip(capacities, own, strict=True)) == wanted
