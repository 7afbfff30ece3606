"""The figures that the docs take from benchmarks/results/observations.json are what the policies reach today.

This keeps the docs from going stale, no more: that the policies are right is for their twins and laws to show.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hitcurve.simulation import Prepared, Simulation
from hitcurve.synth import demo_trace

STORED = json.loads((Path(__file__).parents[2] / "benchmarks" / "results" / "observations.json").read_text())
TIGHT = [
    row
    for section in ("sessions", "partial")
    for row in STORED[section]
    if (row["trace"], row["capacity_blocks"]) == ("bundled", 2_048)
]


@pytest.fixture(scope="module")
def bundled():
    return Prepared(demo_trace())


@pytest.mark.parametrize("row", TIGHT, ids=lambda row: " ".join([row["policy"], *map(str, row["params"].values())]))
def test_stored_figures_are_what_policies_reach(bundled, row):
    options = {name: row[name] for name in ("params", "cost", "replay_order")}
    result = Simulation(bundled, row["policy"], row["capacity_blocks"], seed=STORED["seed"], **options).run().result()
    counted = {name: value for name, value in row.items() if name.startswith("n_")}
    ratios = {name: row[name] for name in STORED["ratios"]}
    assert {name: getattr(result, name) for name in counted} == counted
    assert {name: getattr(result, name) for name in ratios} == pytest.approx(ratios, abs=1e-6)
