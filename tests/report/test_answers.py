"""The smallest cache for a share of hits, to the block."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitcurve.lru.hit_curve import HitCurve
from hitcurve.report.answers import answer, room, sentence, usual_targets
from tests.naive import doctor as naive


def curve(thresholds):
    """One hit at each of these capacities."""
    return HitCurve.of(np.array(thresholds, np.int64), np.ones(len(thresholds), np.int64))


@given(
    st.lists(st.integers(1, 20), max_size=12),
    st.integers(1, 40),
    st.integers(1, 64),
    st.fractions(Fraction(1, 100), 1, max_denominator=100),
)
def test_smallest_capacity(thresholds, cold, unit, target):
    total = (len(thresholds) + cold) * unit - unit // 2
    (found,) = answer([target], curve(thresholds), total, unit)
    capacities = list(range(1, 21))
    hits = [unit * sum(t <= capacity for t in thresholds) for capacity in capacities]
    assert found.capacity_blocks == naive.smallest(capacities, hits, total, target.numerator, target.denominator)
    assert found.ceiling == Fraction(hits[-1], total)


@pytest.mark.parametrize(
    ("ceiling", "percent"),
    [
        (0.885, [80, 90]),
        (0.373, [30, 40]),
        (0.95, [90, 95]),
        (0.995, [90, 99]),
        (0.05, [5, 6]),
        (0.004, [1]),
        (0, [1]),
        (1, [90, 99]),
    ],
)
def test_usual_targets(ceiling, percent):
    assert usual_targets(ceiling) == [Fraction(p, 100) for p in percent]


def test_out_of_reach_is_said():
    nothing = answer([Fraction(1, 2)], curve([]), 10)
    assert sentence(nothing, "tokens", str) == "50 % of tokens is out of reach (ceiling 0 %)"


def test_a_ttl_is_named():
    (found,) = answer([Fraction(1, 2)], curve([1, 2, 3, 3, 3]), 10, ttl=300)
    assert sentence([found], "tokens", room) == "TTL 5 min: 50 % of tokens needs 3 blocks"
    assert found.as_dict(2**20) == {
        "target": 0.5,
        "ttl_seconds": 300,
        "reachable": True,
        "capacity_blocks": 3,
        "capacity_bytes": 3 * 2**20,
        "ceiling": 0.5,
    }
