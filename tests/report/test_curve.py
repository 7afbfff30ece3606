"""The report of a curve: answers that hold, points that are the facts', sizes as asked."""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hitcurve
from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.lru import lru_facts
from hitcurve.report.capacity import Capacity
from hitcurve.report.curve import Curves, plot
from hitcurve.trace import Labels, Trace

POINT = [
    "capacity_blocks",
    "capacity_bytes",
    "ttl_seconds",
    "hit_blocks",
    "hit_tokens",
    "block_hit_ratio",
    "token_hit_ratio",
]


def made(requests, block_size=16, **columns):
    tokens = np.array([16 * len(request) + k % 5 for k, request in enumerate(requests)])
    return Trace.of_requests(requests, block_size=block_size, input_tokens=tokens, **columns)


WORK = [list(range(k % 3 * 100, k % 3 * 100 + 3 + k)) for k in range(12)]


def test_json_has_the_agreed_shape():
    report = Curves(lru_facts(made(WORK)), [None, 3], block_bytes=1 << 20).report(
        [Capacity(blocks=4), Capacity(bytes=(10 << 20) + 5), Capacity()]
    )
    document = json.loads(report.to_json())
    assert {"trace", "definition", "points"} <= set(document)
    trace = document["trace"]
    assert (trace["requests"], trace["block_refs"], trace["block_size"]) == (12, sum(map(len, WORK)), 16)
    assert {"unique_blocks", "input_tokens"} <= set(trace)
    for point in document["points"]:
        assert list(point) == [*POINT[:5], "tail_hit_tokens", *POINT[5:]]
    asked = [(p["capacity_blocks"], p["capacity_bytes"], p["ttl_seconds"]) for p in document["points"]]
    sizes = [(4, 4 << 20), (10, (10 << 20) + 5), (None, None)]
    assert asked == [(*size, ttl) for ttl in (None, 3) for size in sizes]


def test_points_are_the_facts():
    facts = lru_facts(made(WORK))
    report = Curves(facts, [None, 3]).report([Capacity(5), Capacity()])
    for point in report.table.rows():
        capacity, ttl = point["capacity_blocks"], point["ttl_seconds"]
        assert point["hit_blocks"] == facts.hit_blocks(capacity, ttl)
        assert point["hit_tokens"] == facts.hit_tokens(capacity, ttl)
        assert point["token_hit_ratio"] == facts.hit_tokens(capacity, ttl) / facts.trace.n_input_tokens


@settings(max_examples=100)
@given(
    st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=1, max_size=9),
    st.sampled_from([None, 2, 5]),
    st.fractions(Fraction(1, 50), 1, max_denominator=50),
)
def test_an_answer_is_the_smallest_that_reaches_its_target(requests, ttl, target):
    trace = made(requests)
    facts = lru_facts(trace)
    ((found,),) = Curves(facts, [ttl]).answers([target])
    needed = target * trace.n_input_tokens
    reach = [c for c in range(1, trace.n_block_refs + 1) if facts.hit_tokens(c, ttl) >= needed]
    if trace.n_input_tokens:
        assert found.capacity_blocks == min(reach, default=None)


def test_the_answer_comes_first_in_text():
    text = (
        Curves(lru_facts(made(WORK)), block_bytes=1 << 20).report(targets=[Fraction(1, 2), Fraction(9, 10)]).to_text()
    )
    first, second, *_ = text.splitlines()
    assert first.startswith("50 % of tokens needs ") and "MiB" in first
    assert "90 % is out of reach (ceiling " in first
    assert "reaches the ceiling" in second
    assert "hit full blocks x 16 tokens over" in text and "block size 16" in text


def test_the_ladder_ends_at_the_ceiling_and_at_infinity():
    curves = Curves(lru_facts(made(WORK)))
    rows = list(curves.report().table.rows())
    assert rows[-1]["capacity_blocks"] is None
    assert rows[-2]["hit_blocks"] == rows[-1]["hit_blocks"] > rows[-3]["hit_blocks"]


def test_whole_curve_in_csv_and_parquet(tmp_path):
    from pyarrow import parquet

    facts = lru_facts(made(WORK))
    report = Curves(facts, [None, 3], block_bytes=7).report(whole=True)
    report.write(tmp_path / "curve.parquet")
    report.write(tmp_path / "curve.csv")
    rows = parquet.read_table(tmp_path / "curve.parquet").to_pylist()
    assert len(rows) == len(facts.curve()) + len(facts.curve(3))
    for row in rows:
        assert row["hit_blocks"] == facts.hit_blocks(row["capacity_blocks"], row["ttl_seconds"])
        assert row["capacity_bytes"] == 7 * row["capacity_blocks"]
    provenance, *lines = (tmp_path / "curve.csv").read_text().splitlines()
    assert json.loads(provenance.removeprefix("# "))["trace"]["requests"] == 12
    again = list(csv.DictReader(io.StringIO("\n".join(lines))))
    assert [int(r["hit_blocks"]) for r in again] == [r["hit_blocks"] for r in rows]


def test_groups():
    trace = made(WORK, session=Labels.of(["a", "b", None] * 4))
    report = Curves(lru_facts(trace)).report([Capacity(4), Capacity()], by="session")
    assert [row["session"] for row in report.table.rows()] == ["a", "b", None] * 2
    total = sum(row["hit_blocks"] for row in report.table.rows() if row["capacity_blocks"] is None)
    assert total == lru_facts(trace).hit_blocks()
    assert report.shown["session"] == ["a", "b", "(none)"] * 2


def test_without_lengths_blocks_are_counted():
    report = Curves(lru_facts(Trace.of_requests(WORK))).report()
    assert " of blocks needs " in report.answers[0]
    assert all(point["hit_tokens"] is None for point in report.document["points"])
    assert "of tokens" not in report.shown.columns


def test_a_lower_bound_is_said():
    trace = Trace.of_requests([[1, 2], [3, 2], [1, 2]], identity="raw")
    report = Curves(lru_facts(trace)).report()
    assert any("lower bound" in line for line in report.answers)
    assert report.document["definition"]["exact"] is False


@pytest.mark.parametrize("requests", [[], [[]], [[1], [2]]])
def test_nothing_hits(requests):
    curves = Curves(lru_facts(made(requests)))
    assert "out of reach (ceiling 0 %)" in curves.report(picture=True).answers[0]
    with pytest.raises(UnsupportedTrace, match="no curve to draw"):
        curves.figure()


def test_bytes_need_the_size_of_a_block():
    with pytest.raises(BadParameter, match="--block-bytes"):
        Curves(lru_facts(made(WORK))).report([Capacity(bytes=100)])


def test_plot_in_one_call(tmp_path):
    figure = plot(made(WORK), ttls=[None, 3], targets=[0.5], path=tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    assert "50 % needs" in {text.get_text()[:10] for text in figure.axes[0].texts}
    assert hitcurve.plot is plot
