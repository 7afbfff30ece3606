"""Each check says ok on a sound trace and finds what it is for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.report import doctor
from hitcurve.report.doctor import EXAMPLES, examination, examine
from hitcurve.trace import Labels, Trace
from tests.naive import doctor as naive

SOUND = [[1, 2, 3], [1, 2, 4], [5, 6], [1, 2, 3, 7]]


def made(requests=SOUND, lengths=(48, 40, 20, 64), definition=None, **columns):
    trace = Trace.of_requests(
        requests, block_size=16, input_tokens=None if lengths is None else np.array(lengths), **columns
    )
    return trace.with_definition(tail_rule="ceil", **definition or {})


def check(name, trace):
    (found,) = [c for c in examine(trace) if c.name == name]
    return found


def test_a_sound_trace_has_no_findings():
    report, n = examination(made())
    assert n == 0 and report.answers == ["nothing found"]
    assert all(check.ok for check in examine(made()))


def test_an_empty_trace_is_examined_too():
    assert [c.name for c in examine(Trace.of_requests([])) if not c.ok] == ["rows", "block size"]


@pytest.mark.parametrize(
    ("name", "trace", "rows"),
    [
        ("rows", made(definition={"rows_dropped": 3}), ()),
        ("rows", Trace.of_requests([]), ()),
        ("lengths", made([[1], [], [2]], [16, 16, 16]), (1,)),
        ("lengths", made([[1], [], [2]], [16, 0, 16]), (1,)),
        ("lengths", made([[1], [], [2]], None), (1,)),
        ("block size", made(lengths=[48, 40, 99, 64]), (2,)),
        ("block size", made(definition={"block_size": None}), ()),
        ("tail rule", made([[1, 2], [1], [3, 4]], [20, 20, 20]), (1,)),
        ("tail rule", made([[1], [1, 2], [3]], [20, 20, 20]), (1,)),
        ("order", made(times=[5, 5, 5, 5]), ()),
        ("order", made(definition={"rows_sorted": 2}), ()),
        ("order", made(turn=[0, 3, 0, 1], session=Labels.of(["a", "a", "b", "a"])), (3,)),
        ("time unit", made(times=[0, 1e-5, 2e-5, 3e-5]), ()),
        ("time unit", made(times=[0, 1e6, 2e6, 3e6]), ()),
        ("time unit", made(times=[1.7e9 / 1000 * 500 + k for k in range(4)]), ()),
        ("ids", made([[1, 2], [3, 2]], [32, 32]), ()),
        ("ids", made([[1, 2], [3, 2]], [32, 32], identity="raw"), ()),
        ("sharing", made([[1], [2], [3]], [16, 16, 16]), ()),
        ("duplicates", made([[1], [1], [2], [2]], [16, 16, 16, 16]), (1, 3)),
    ],
)
def test_a_finding(name, trace, rows):
    found = check(name, trace)
    assert not found.ok and found.rows == rows, found


@pytest.mark.parametrize(
    ("name", "trace"),
    [
        ("ids", made([[1, 2], [3, 2]], [32, 32], definition={"id_kind": "block"})),
        ("ids", made([[1, 2], [3, 2]], [32, 32], identity="prefix", definition={"id_scope": "conversation"},
                     session=Labels.of(["a", "b"]))),
        ("order", made(definition={"time_unit": "none"}, times=[0, 0, 0, 0])),
        ("time unit", made(times=[1.7e9 + k for k in range(4)])),
        ("duplicates", made([[1], [1]], [16, 15], output_tokens=[3, 4])),
        ("duplicates", made([[1], [2], [1]], [16, 16, 16])),
        ("tail rule", made([[1], [2]], [20, 20])),
    ],
)  # fmt: skip
def test_no_finding(name, trace):
    assert check(name, trace).ok, check(name, trace)


def test_findings_come_first_and_are_counted():
    report, n = examination(made([[1], [1], [3, 2], [2, 2]], [16, 16, 32, 32]))
    assert n == 2 and report.answers == ["2 findings: ids, duplicates"]
    assert report.document["findings"] == 2
    assert [row["result"] for row in report.table.rows()].count("finding") == 2
    assert report.document["checks"][-1]["rows"] == [1]


REQUESTS = st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=8)


@settings(max_examples=200)
@given(REQUESTS, st.data())
def test_counts_equal_the_naive_ones(requests, data):
    names = data.draw(st.lists(st.sampled_from([None, "a", "b"]), min_size=len(requests), max_size=len(requests)))
    session = Labels.of(names)
    trace = Trace.of_requests(requests, block_size=16)
    assert doctor._distinct_ids(trace) == naive.distinct_ids(requests, [0] * len(requests))
    assert check("duplicates", trace).rows == tuple(naive.repeats(requests, [0] * len(requests))[:EXAMPLES])
    if session is None:
        return
    trace = Trace.of_requests(requests, block_size=16, session=session)
    assert check("duplicates", trace).rows == tuple(naive.repeats(requests, names)[:EXAMPLES])


@settings(max_examples=100)
@given(REQUESTS, st.data())
def test_ids_of_a_conversation_are_told_apart(requests, data):
    names = data.draw(st.lists(st.sampled_from(["a", "b"]), min_size=len(requests), max_size=len(requests)))
    scoped = [[f"{name}{raw}" for raw in request] for request, name in zip(requests, names, strict=True)]
    trace = Trace.of_requests(scoped, session=Labels.of(names)).with_definition(id_scope="conversation")
    assert doctor._distinct_ids(trace) == naive.distinct_ids(requests, names)
