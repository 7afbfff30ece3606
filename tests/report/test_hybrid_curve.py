"""The report of a hybrid model: capacities are bytes, the points are the facts', and the model is said."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

import hitcurve
from hitcurve.errors import BadParameter
from hitcurve.lru import hybrid_facts
from hitcurve.report.capacity import Capacity
from hitcurve.report.hybrid_curve import HybridCurves
from tests.report.test_curve import WORK, made

MODEL = {"full_bytes": 1 << 20, "linear_bytes": 3 << 20, "linear_step_tokens": 64}


def facts_of(**columns):
    return hybrid_facts(made(WORK, **columns), **MODEL)


def test_json_speaks_of_bytes_alone():
    facts = facts_of()
    asked = [Capacity(bytes=20 << 20), Capacity(bytes=77_000_001), Capacity()]
    document = json.loads(HybridCurves(facts, [None, 3]).report(asked, [Fraction(1, 2), Fraction(99, 100)]).to_json())
    assert "capacity_blocks" not in json.dumps(document)
    assert {"full_bytes": 1 << 20, "linear_bytes": 3 << 20, "linear_step_blocks": 4}.items() <= document.items()
    assert "state" in document["definition"]["hit"]
    for point in document["points"]:
        assert point["hit_blocks"] == facts.hit_blocks(point["capacity_bytes"], point["ttl_seconds"])
        assert point["hit_tokens"] == facts.hit_tokens(point["capacity_bytes"], point["ttl_seconds"])
    sizes = [(p["capacity_bytes"], p["ttl_seconds"]) for p in document["points"]]
    assert sizes == [(size, ttl) for ttl in (None, 3) for size in (20 << 20, 77_000_001, None)]
    for answer in document["answers"]:
        target = Fraction(str(answer["target"]))
        assert answer["capacity_bytes"] == facts.capacity_for(target, ttl=answer["ttl_seconds"])


def test_people_read_the_model_and_sizes():
    text = HybridCurves(facts_of()).report(picture=True).to_text()
    assert "model: 1 MiB a block (full attention), 3 MiB a state (linear attention)" in text
    assert "states every 4 blocks and at the end of a request" in text
    assert "MiB" in text.splitlines()[0] and "blocks)" not in text.split("counted")[0]
    assert "infinite" in text
    side_by_side = HybridCurves(facts_of(), [None, 3]).report().to_text()
    assert "of tokens, TTL 3 s" in side_by_side


def test_groups_and_all_steps():
    facts = facts_of(turn=[k % 3 for k in range(len(WORK))])
    curves = HybridCurves(facts, [None, 3])
    by_turn = curves.report([Capacity(bytes=30 << 20)], by="turn").table
    assert len(by_turn) == 6 and sum(by_turn["hit_blocks"][:3]) == facts.hit_blocks(30 << 20)
    steps = curves.report(whole=True).table
    assert list(steps.columns)[:3] == ["capacity_bytes", "ttl_seconds", "hit_blocks"]
    assert all(row["hit_blocks"] == facts.hit_blocks(row["capacity_bytes"], row["ttl_seconds"]) for row in steps.rows())


def test_a_size_in_blocks_is_refused():
    with pytest.raises(BadParameter, match="bytes"):
        HybridCurves(facts_of()).report([Capacity(blocks=7)])


def test_it_is_drawn_over_bytes(tmp_path):
    figure = hitcurve.plot(facts_of(), ttls=[None, 3], path=tmp_path / "curve.svg")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "cache size" and not axes.child_axes
    assert (tmp_path / "curve.svg").stat().st_size
