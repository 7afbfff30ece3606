"""Reuse intervals: samples of requests, and their statistics."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.lru import IntervalWindow, ReuseIntervals, interval_samples, interval_window, lru_facts
from hitcurve.lru.interval_window import BINS, TOPS, bin_of
from hitcurve.trace import Trace
from tests.lru.traces import any_requests, tree_requests, with_times
from tests.naive import windows as naive
from tests.naive.lru import paths


def test_vectors_of_statistics(litehit):
    for vector in litehit("reuse_interval"):
        window = IntervalWindow()
        for sample in vector["samples_ns"]:
            window.add(np.array([sample]))
        taken, expected = window.take(), vector["expected"]
        found = {"count": taken.count, "min": taken.least_ns, "max": taken.most_ns, "avg": taken.mean_ns}
        assert found | {"p95": taken.p95_ns, "p99": taken.p99_ns} == expected
        assert taken.exact


def test_vectors_of_traces(litehit):
    for vector in litehit("reuse_interval_trace"):
        second, expected = 10**9, vector["expected"]
        intervals = ReuseIntervals()
        for request in vector["requests"]:
            intervals.process(request["keys"], request["timestamp"] * second)
        taken = intervals.take()
        assert (taken.count, taken.least_ns, taken.most_ns) == (5, 0, 40 * second) and taken.count == expected["count"]
        assert taken.mean_ns / second == expected["avg_s"]
        assert [taken.least_ns, taken.most_ns] == [expected["min_s"] * second, expected["max_s"] * second]
        then, following = expected["then_request"], expected["next_window"]
        intervals.process(then["keys"], then["timestamp"] * second)
        taken = intervals.take()
        assert [taken.count, taken.least_ns, taken.most_ns] == [
            following["count"], following["min_s"] * second, following["max_s"] * second
        ]  # fmt: skip


def agrees(taken, samples, tolerance=0):
    assert taken.count == len(samples)
    if not samples:
        assert taken.mean_ns is taken.p95_ns is taken.least_ns is None
        return
    assert (taken.least_ns, taken.most_ns) == (min(samples), max(samples))
    assert taken.mean_ns == float(Fraction(sum(samples), len(samples)))
    for percent, found in ((95, taken.p95_ns), (99, taken.p99_ns)):
        wanted = naive.nearest_rank(samples, percent)
        assert wanted <= found <= wanted + wanted * tolerance


times = st.one_of(
    st.integers(0, 300), st.integers(0, 2**63 - 1), st.integers(0, 63).map(lambda p: min(2**p, 2**63 - 1))
)


@settings(max_examples=200)
@given(
    windows=st.lists(st.lists(st.tuples(times, st.integers(1, 3)), max_size=40), min_size=1, max_size=3),
    few=st.sampled_from([1, 5, 4096]),
    most=st.sampled_from([0, 3, 10, 1 << 20]),
)
def test_windows_are_their_samples(windows, few, most):
    old, interval_window.FEWEST = interval_window.FEWEST, few
    try:
        window = IntervalWindow(most_values=most)
        for drawn in windows:
            for start in range(0, len(drawn), 7):
                ns, count = np.array(drawn[start : start + 7], np.int64).T
                window.add(ns, count)
            samples = [ns for ns, count in drawn for _ in range(count)]
            taken = window.take()
            assert taken.exact == (len(set(samples)) <= most or not samples)
            agrees(taken, samples, tolerance=0 if taken.exact else Fraction(1, 128))
    finally:
        interval_window.FEWEST = old


@given(st.lists(st.one_of(times, st.integers(0, 62).flatmap(lambda p: st.integers(2**p - 1, 2**p + 1))), min_size=1))
def test_bins_hold_what_is_at_most_their_top(values):
    bins = bin_of(np.array(values)).tolist()
    for value, b in zip(values, bins, strict=True):
        assert (TOPS[b - 1] if b else -1) < value <= TOPS[b]
        assert int(TOPS[b]) - value <= value / 128
    assert np.all(np.diff(TOPS) > 0) and len(TOPS) == BINS and TOPS[-1] == 2**63 - 1


@settings(max_examples=200)
@given(
    drawn=with_times(any_requests()), by_path=st.booleans(), ttl=st.one_of(st.none(), st.integers(1, 6)),
    takes=st.sets(st.integers(0, 12)), steps=st.lists(st.integers(-2, 0), min_size=12, max_size=12),
)  # fmt: skip
def test_requests_one_by_one(drawn, by_path, ttl, takes, steps):
    requests, times = drawn
    intervals, slow = ReuseIntervals("prefix" if by_path else "raw", ttl_ns=ttl), naive.Intervals(ttl)
    for k, (request, time, step) in enumerate(zip(requests, times, steps, strict=False)):
        now = time + step
        intervals.process(request, now)
        slow.process(paths([request])[0] if by_path else request, now)
        if k in takes:
            agrees(intervals.take(), slow.take())
    agrees(intervals.take(), slow.take())


@settings(max_examples=200)
@given(
    drawn=st.one_of(with_times(tree_requests()), with_times(any_requests())), by_path=st.booleans(),
    ttl=st.one_of(st.none(), st.integers(1, 6)),
)  # fmt: skip
def test_whole_traces(drawn, by_path, ttl):
    requests, times = drawn
    trace = Trace.of_requests(requests, identity="prefix" if by_path else "raw")
    trace = replace(trace, arrival_ns=np.array(times, np.int64))
    slow = naive.Intervals(ttl)
    for request, time in zip(paths(requests) if by_path else requests, times, strict=True):
        slow.process(request, time)
    for facts in (None, lru_facts(trace)):
        ages, blocks = interval_samples(trace, facts, ttl)
        assert np.repeat(ages, blocks).tolist() == slow.window


def test_namespaces_and_memory():
    intervals = ReuseIntervals()
    for tenant in "aba":
        intervals.process([1, "x"], 5, namespace=tenant)
    assert intervals.take().count == 2
    window = IntervalWindow()
    for k in range(100_000):
        window.add(np.array([k % 50]))
    assert len(window._waiting) < 5000
    taken = window.take()
    assert (taken.count, taken.p95_ns, taken.p99_ns) == (100_000, 47, 49)


def test_sums_beyond_64_bits():
    window = IntervalWindow()
    window.add(np.array([2**63 - 1, 2**63 - 1]))
    assert window.take().mean_ns == pytest.approx(2**63)
