"""Statistics equal counting block by block."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.statistics import block_lives, holders_by_group, trace_statistics
from hitcurve.trace import Labels, Trace
from tests.lru.traces import any_requests, tree_requests, with_times
from tests.naive import statistics as naive
from tests.naive.lru import paths

SECOND = 10**9  # ns


@st.composite
def drawn_traces(draw, tree):
    requests, times = draw(with_times(tree_requests() if tree else any_requests()))
    n = len(requests)
    names = draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n))
    output = draw(st.lists(st.integers(-1, 50), min_size=n, max_size=n))
    trace = Trace.of_requests(
        requests,
        times=times,
        identity="prefix" if tree else "raw",
        session=Labels.of(names),
        input_tokens=[3 * len(request) for request in requests],
        output_tokens=output,
    )
    return trace, paths(requests) if tree else requests, times, names, output


@settings(max_examples=200)
@given(st.booleans().flatmap(drawn_traces))
def test_statistics_are_what_counting_gives(drawn):
    trace, requests, times, names, output = drawn
    found = trace_statistics(trace)
    counts = dict(zip(found.counts["quantity"], found.counts["value"], strict=True))
    references = [block for request in requests for block in request]
    many = {block for block in references if references.count(block) > 1}
    assert counts["requests"] == len(requests)
    assert counts["block references"] == len(references)
    assert counts["unique blocks"] == len(set(references))
    assert counts["blocks referenced more than once"] == len(many)
    total = max(len(references), 1)
    assert counts["share of references to such blocks"] == sum(b in many for b in references) / total
    assert counts["share of references to blocks seen before"] == (len(references) - len(set(references))) / total
    assert counts["output tokens"] == sum(o for o in output if o >= 0)
    if trace.session is not None:
        held = naive.holders(requests, names)
        assert counts["sessions"] == len({name for name in names if name is not None})
        assert counts["blocks shared between sessions"] == sum(len(groups) > 1 for groups in held.values())
        assert holders_by_group(trace, trace.session.codes).tolist() == [len(groups) for groups in held.values()]
    assert block_lives(trace).tolist() == [life * SECOND for life in naive.lives(requests, times)]
    own = [[t for t, n in zip(times, names, strict=True) if n == name] for name in {*names} - {None}]
    expected = {
        "blocks of a request": [len(request) for request in requests],
        "input of a request": [3 * len(request) for request in requests],
        "output of a request": [o for o in output if o >= 0],
        "references to a block": [references.count(block) for block in set(references)],
        "time between requests": [b - a for a, b in pairwise(times)],
        "life of a block, first to last reference": naive.lives(requests, times),
        "requests of a session": [len(each) for each in own],
        "life of a session, first to last request": [each[-1] - each[0] for each in own],
    }
    expected["reuse interval of a block"] = naive.intervals(requests, times)
    rows = {row["quantity"]: row for row in found.spread.rows()}
    for quantity, values in expected.items():
        assert (quantity in rows) == bool(values)
        if values:
            wanted = naive.spread(values)
            assert rows[quantity]["mean"] == pytest.approx(float(wanted.pop("mean")))
            assert {name: rows[quantity][name] for name in wanted} == wanted


def test_a_trace_without_times_has_no_rows_in_seconds():
    trace = Trace.of_requests(["ab", "ab"]).with_definition(time_unit="none")
    assert "seconds" not in trace_statistics(trace).spread["unit"]
