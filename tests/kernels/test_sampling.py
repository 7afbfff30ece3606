"""The search among draws takes the first of the lowest, whichever way the scores came about."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hitcurve.kernels.sampling import lowest


@given(st.lists(st.integers(0, 4), min_size=5, max_size=5), st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_lowest_is_the_first_of_the_least(scores, half):
    slots = half + half[::-1]
    found = lowest(np.array(scores, np.float64), np.array(slots, np.uint32))
    assert found == min(slots, key=scores.__getitem__)


@given(st.lists(st.sampled_from([0.0, 1.0, np.inf, -np.inf]), min_size=2, max_size=8).filter(lambda x: len(x) % 2 == 0))
def test_infinite_scores_are_compared_as_they_are(scores):
    found = lowest(np.array(scores), np.arange(len(scores), dtype=np.uint32))
    assert found == scores.index(min(scores))
