"""The sketch equals a dict of counts, never underestimates, and rarely overestimates."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.kernels.sketch import add, age, estimate, new_sketch
from tests.naive.sketch import NaiveSketch

operations = st.lists(st.tuples(st.sampled_from(["add", "add", "age"]), st.integers(0, 2**31 - 1)), max_size=60)


@settings(max_examples=150, deadline=None)
@given(operations, st.integers(0, 9), st.integers(1, 20))
def test_equals_a_dict_of_counts(operations, entries, period):
    sketch, twin = new_sketch(entries), NaiveSketch(entries)
    for operation, block in operations:
        if operation == "add":
            add(sketch, block)
            twin.add(block)
        else:
            age(sketch, period)
            twin.age(period)
        assert estimate(sketch, block) == twin.estimate(block)
    assert {(r, c): sketch.counters[r, c] for r, c in np.argwhere(sketch.counters).tolist()} == +twin.counts


def test_error_is_the_promised_share():
    entries = 20_000
    sketch = new_sketch(entries)
    assert sketch.counters.size == 287_552  # 14.3776 an entry, rounded up
    for block in range(entries):
        add(sketch, block)
    assert all(estimate(sketch, block) >= 1 for block in range(entries))
    assert sum(estimate(sketch, block) > 1 for block in range(entries)) < 40  # 20 expected
    assert sum(estimate(sketch, block) > 0 for block in range(entries, 2 * entries)) < 40


def test_ages_at_every_period():
    sketch = new_sketch(100)
    for _ in range(7):
        add(sketch, 5)
    seen = []
    for _ in range(7):
        age(sketch, 3)
        seen.append(int(estimate(sketch, 5)))
    assert seen == [7, 7, 3, 3, 3, 1, 1]
