"""Ids that stop forming a tree are found at once, and numbered on as if they had been taken as they are all along."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.trace.interning import Interner
from hitcurve.trace.tree import BITS, SeenIds, by_raw_id
from tests.lru.traces import any_requests, tree_requests
from tests.naive.lru import paths

SPREAD = st.one_of(
    st.integers(-3, 3),
    st.integers(0, 40).map(lambda k: k << 40),
    st.integers(-40, 40).map(lambda k: k << 32),
    st.integers(-(2**63), 2**63 - 1),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(SPREAD, max_size=12), max_size=6))
def test_repeats_are_found(batches):
    seen, known = SeenIds(), set()
    for batch in batches:
        new = len(set(batch)) == len(batch) and not known & set(batch)
        known |= set(batch)
        assert seen.add(np.array(batch, np.int64)) == new
        if not new:
            break


def test_repeats_are_found_in_a_set_that_has_grown():
    """Values whose low bits, and then whose high bits, are all alike."""
    for shift in (0, 20, 44):
        seen = SeenIds()
        for begin in range(0, 1 << (BITS + 4), 700):
            values = np.arange(begin, begin + 700) << shift
            assert seen.add(values)
        assert all(not seen.add(np.array([k << shift])) for k in (0, 1, 699, 5000))
        assert seen.add(np.array([-1]))


def spans(found):
    offsets, first, length = found
    pairs = list(zip(first.tolist(), length.tolist(), strict=True))
    return [pairs[a:b] for a, b in pairwise(offsets)]


@settings(max_examples=300, deadline=None)
@given(tree_requests(), any_requests(), any_requests(), st.data())
def test_numbered_on_by_raw_id(tree, others, later, data):
    """In two namespaces, with blocks of a batch forgotten in between."""
    keys: dict = {}
    chained = [[keys.setdefault(block, len(keys)) for block in request] for request in paths(tree)]
    names = data.draw(st.lists(st.integers(0, 1), min_size=len(tree), max_size=len(tree)))
    by_path, raw = Interner(), Interner("raw")
    for interner in (by_path, raw):
        for name in "ab":
            interner.namespace(name)
    columns = np.array(names, np.int64)
    assert spans(by_path.add_lists(chained, columns)) == spans(raw.add_lists(chained, columns))
    known = by_path.n_blocks
    by_path.add_lists(later)  # this batch has broken the tree
    switched = by_raw_id(by_path, known)
    assert switched.n_blocks == raw.n_blocks
    for batch in (others, later):
        columns = np.zeros(len(batch), np.int64)
        assert spans(switched.add_lists(batch, columns)) == spans(raw.add_lists(batch, columns))
        assert switched.result()["contract"] == raw.result()["contract"]
    assert np.array_equal(switched.result()["raw_ids"].codes, raw.result()["raw_ids"].codes)
