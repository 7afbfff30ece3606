"""The curve of a window: what its own hits need."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.lru import MrcWindow, lru_facts, mrc_window
from hitcurve.trace import Trace
from tests.lru.traces import tree_requests
from tests.naive import windows as naive


def test_vectors(litehit):
    found = litehit("mrc_window")
    assert len(found) == 4
    for vector in found:
        window = MrcWindow()
        for request in vector["requests"]:
            window.add(request["curve_rle"])
        expected = vector["expected"]
        taken = window.take()
        assert list(taken.required_blocks) == expected["targets_bp"]
        assert list(taken.required_blocks.values()) == expected["required_blocks"]
        assert expected["window_cleared_after_take"] and set(window.take().required_blocks.values()) == {0}


segments = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 8)), max_size=4)


@settings(max_examples=300)
@given(
    windows=st.lists(st.lists(segments, max_size=12), min_size=1, max_size=3),
    capacities=st.lists(st.one_of(st.none(), st.integers(0, 60)), max_size=5),
    few=st.sampled_from([1, 4, 4096]),
)
def test_a_window_is_its_thresholds(windows, capacities, few):
    old, mrc_window.FEWEST = mrc_window.FEWEST, few  # add up again and again
    try:
        window = MrcWindow()
        for facts in windows:
            for fact in facts:
                window.add(fact)
            taken = window.take(capacities)
            found = naive.thresholds(facts)
            assert taken.most == len(found)
            assert taken.required_blocks == naive.required(facts)
            assert taken.hit_blocks == [sum(c is None or t <= c for t in found) for c in capacities]
    finally:
        mrc_window.FEWEST = old


@given(tree_requests())
def test_a_window_of_all_requests_is_the_curve_of_the_trace(requests):
    facts = lru_facts(Trace.of_requests(requests))
    window = MrcWindow(targets_bp=(1, 5000, 10_000))
    window.add_segments(facts.start, facts.length)
    taken = window.take([0, 3, None])
    assert taken.hit_blocks == [facts.hit_blocks(c) for c in (0, 3, None)]
    for bp, capacity in taken.required_blocks.items():
        assert capacity == facts.block_curve().smallest(-(-taken.most * bp // 10_000))


def test_memory_is_that_of_the_curve():
    window = MrcWindow()
    for k in range(20_000):
        window.add([(1 + k % 7, 3), (100, 50)])
    assert sum(len(part[0]) for part in window._parts) < 10_000
    assert window.take().most == 20_000 * 53


def test_capacities_are_large():
    window = MrcWindow()
    window.add_segments(np.array([2**60]), np.array([2**40]))
    assert window.take([2**60]).hit_blocks == [1]
