"""Traces from traces, against the same done on lists of ids."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.trace import LABEL_COLUMNS, Definition, Labels, Trace
from hitcurve.trace.interning import Interner
from hitcurve.trace.transforms import head, merge, reblock, sample, window
from tests.naive import interning as naive_interning
from tests.naive import transforms as naive
from tests.trace.sameness import COLUMNS, named, told
from tests.trace.traces import odd_ids, plain_ids, traces

ROWS = [name for name in COLUMNS if not name.startswith("span")]


def paths(trace: Trace) -> list[list[int]]:
    return [trace.blocks(i).tolist() for i in range(trace.n_requests)]


def check_selection(trace: Trace, chosen: Trace, rows: list[int]) -> None:
    """``chosen`` is what reading the rows alone would give."""
    old = paths(trace)
    dense, blocks, tree = naive_interning.interned([old[r] for r in rows], [0] * len(rows), "raw")
    assert paths(chosen) == dense
    assert chosen.contract == tree
    assert trace.raw_ids and chosen.raw_ids
    assert [chosen.raw_ids[b] for b in range(chosen.n_blocks)] == [trace.raw_ids[b] for b in blocks]
    for name in ROWS:
        before, after = getattr(trace, name), getattr(chosen, name)
        assert (before is None) == (after is None)
        assert before is None or after.tolist() == [before[r] for r in rows]
    for name in LABEL_COLUMNS:
        before, after = named(getattr(trace, name)), getattr(chosen, name)
        assert named(after) == (before and [before[r] for r in rows])
        assert after is None or after.names == tuple(dict.fromkeys(n for n in named(after) or [] if n is not None))


@settings(max_examples=150)
@given(traces(), st.integers(0, 13))
def test_head(trace: Trace, n: int) -> None:
    check_selection(trace, head(trace, n), list(range(min(n, trace.n_requests))))


@settings(max_examples=150)
@given(traces(), st.one_of(st.none(), st.integers(-1, 12)), st.one_of(st.none(), st.integers(0, 20)))
def test_window(trace: Trace, start: int | None, length: int | None) -> None:
    stop = None if length is None else (start or 0) + length
    rows = [
        r
        for r, at in enumerate(trace.arrival_ns.tolist())
        if (start is None or at >= start) and (stop is None or at < stop)
    ]
    check_selection(trace, window(trace, start, stop), rows)


@settings(max_examples=100)
@given(traces(), st.integers(0, 3))
def test_a_sample_holds_sessions_whole(trace: Trace, seed: int) -> None:
    if trace.session is None:
        with pytest.raises(UnsupportedTrace, match="no session column"):
            sample(trace, 0.5, seed)
        return
    numbered = replace(trace, output_tokens=np.arange(trace.n_requests))
    chosen = sample(numbered, 0.5, seed)
    assert chosen.output_tokens is not None
    rows = chosen.output_tokens.tolist()
    check_selection(numbered, chosen, rows)
    names = named(trace.session)
    assert names is not None
    kept = {names[r] for r in rows} - {None}
    assert [r for r in range(trace.n_requests) if names[r] in kept] == [r for r in rows if names[r] is not None]
    assert told(sample(trace, 1.0, seed))["span_first"] == told(trace)["span_first"]
    assert sample(trace, 0.0, seed).n_requests == 0


@settings(max_examples=300)
@given(traces(identity="prefix"), st.integers(1, 5), st.sampled_from(["prefix", "block"]))
def test_larger_blocks(trace: Trace, factor: int, id_kind: str) -> None:
    trace = trace.with_definition(id_kind=id_kind)
    large = reblock(trace, factor)
    wanted = naive.reblocked(paths(trace), factor)
    dense, names, _ = naive_interning.interned(wanted, [0] * len(wanted), "raw")
    assert paths(large) == dense
    assert large.n_blocks == len(names)
    for r in range(large.n_requests):  # spans are as long as can be
        spans = list(large.spans(r))
        assert all(f != g + n for (g, n), (f, _) in pairwise(spans))
    if factor > 1 and id_kind == "block":
        assert large.raw_ids is None
    else:
        assert large.raw_ids and trace.raw_ids
        assert [large.raw_ids[b] for b in range(large.n_blocks)] == [trace.raw_ids[path[-1]] for path in names]
    size = trace.definition.block_size
    assert large.definition.block_size == (size and size * factor)
    assert named(large.session) == named(trace.session)
    if trace.input_tokens is not None:
        assert large.input_tokens is not None and large.input_tokens.tolist() == trace.input_tokens.tolist()


def test_twice_two_is_four_times() -> None:
    trace = Trace.of_requests([[*range(11)], [*range(7), 50, 51, 52, 53, 54], [*range(3)]], block_size=8)
    assert told(reblock(reblock(trace, 2), 2))["span_first"] == told(reblock(trace, 4))["span_first"]
    assert reblock(trace, 4).definition.block_size == 32
    assert reblock(trace, 1) is trace


@st.composite
def rows_of(draw: Any, ids: Any) -> list[tuple[int, int, list[Any]]]:
    n = draw(st.integers(0, 6))
    times = sorted(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    return [(t, draw(st.integers(0, 1)), draw(st.lists(ids, max_size=6))) for t in times]


def trace_of(rows: list[tuple[int, int, list[Any]]], identity: str, with_tenants: bool) -> Trace:
    interner = Interner(identity)
    spaces = np.array([tenant for _, tenant, _ in rows], np.int64) * with_tenants
    offsets, first, length = interner.add_lists([ids for _, _, ids in rows], spaces)
    return Trace(
        arrival_ns=np.array([t for t, _, _ in rows], np.int64),
        span_offsets=offsets,
        span_first=first,
        span_length=length,
        tenant=Labels.of([f"t{tenant}" for _, tenant, _ in rows]) if with_tenants else None,
        definition=Definition(block_size=16, identity=identity),
        **interner.result(),
    )


@settings(max_examples=250)
@given(
    st.one_of(st.lists(rows_of(plain_ids), min_size=1, max_size=4), st.lists(rows_of(odd_ids), min_size=1, max_size=3)),
    st.sampled_from(["prefix", "raw"]),
    st.sampled_from(["namespaced", "global"]),
    st.booleans(),
)
def test_merging(parts: list[Any], identity: str, scope: str, with_tenants: bool) -> None:
    if not with_tenants:
        parts = [[(time, 0, ids) for time, _, ids in rows] for rows in parts]
    whole = merge([trace_of(rows, identity, with_tenants) for rows in parts], scope)
    rows = naive.merged(parts, scope == "global")
    spaces = list(dict.fromkeys(space for space, _ in rows))
    dense, raws, tree = naive_interning.interned(
        [ids for _, ids in rows], [spaces.index(space) for space, _ in rows], identity
    )
    assert paths(whole) == dense
    assert whole.contract == tree
    assert whole.raw_ids is not None
    found = [whole.raw_ids[b] for b in range(whole.n_blocks)]
    assert [naive_interning.key_of(raw) for raw in found] == raws
    assert whole.arrival_ns.tolist() == sorted(t for rows in parts for t, _, _ in rows)


def test_merging_unites_columns() -> None:
    one = Trace.of_requests(
        [[1], [2]], times=[0, 2], session=Labels.of(["s", None]), turn=[3, 4], model=Labels.of(["m", "m"])
    )
    two = Trace.of_requests([[1], [2]], times=[1, 2], session=Labels.of(["s", "r"]), output_tokens=[8, 9])
    whole = merge([one, two])
    assert named(whole.session) == ["0/s", "1/s", None, "1/r"]
    assert whole.turn is not None and whole.turn.tolist() == [3, -1, 4, -1]
    assert whole.output_tokens is not None and whole.output_tokens.tolist() == [-1, 8, -1, 9]
    assert named(whole.model) == ["m", None, "m", None]
    assert whole.definition.id_scope == "file"
    assert whole.definition.notes == ("merged from 2 traces, ids namespaced",)
    assert whole.n_blocks == 4
    together = merge([one, two], scope="global")
    assert named(together.session) == ["s", "s", None, "r"]
    assert together.n_blocks == 2
    other_names = merge([one, replace(two, session=Labels.of(["q", "r"]))])
    assert named(other_names.session) == ["s", "q", None, "r"]


def test_what_cannot_be_merged() -> None:
    one = Trace.of_requests([[1]], block_size=16)
    cases: list[tuple[Trace, str, type[Exception], str]] = [
        (one.with_definition(block_size=32), "namespaced", BadParameter, "wanted one block_size, found 16 and 32"),
        (one.with_definition(identity="raw"), "namespaced", BadParameter, "wanted one identity, found prefix and raw"),
        (one.with_definition(id_kind="block"), "global", BadParameter, "wanted one id_kind, found prefix and block"),
        (one.with_definition(time_unit="none"), "namespaced", BadParameter, "some of the traces have times"),
        (replace(one, input_tokens=[16]), "namespaced", BadParameter, "some of the traces have input tokens"),
        (replace(one, raw_ids=None), "global", UnsupportedTrace, "trace 1 has no raw ids"),
    ]
    for two, scope, error, reason in cases:
        with pytest.raises(error, match=reason):
            merge([one, two], scope)
    local = one.with_definition(id_scope="conversation")
    with pytest.raises(UnsupportedTrace, match="in trace 0 an id means different blocks"):
        merge([local, local], "global")
    with pytest.raises(BadParameter, match="wanted namespaced or global, found 'local'"):
        merge([one], "local")
    with pytest.raises(BadParameter, match="at least one trace"):
        merge([])


def test_arguments_out_of_range() -> None:
    trace = Trace.of_requests([[1, 2]], identity="raw")
    for call, reason in [
        (lambda: head(trace, -1), "head: wanted a number of requests >= 0, found -1"),
        (lambda: window(trace, 5, 4), "window: wanted a start before its stop"),
        (lambda: reblock(trace, 0), "factor: wanted a whole number from 1 to 2147483647, found 0"),
        (lambda: reblock(trace, 2**31), "factor: wanted a whole number from 1 to 2147483647, found 2147483648"),
        (lambda: sample(trace, 1.5), "share: wanted 0 .. 1, found 1.5"),
    ]:
        with pytest.raises(BadParameter, match=reason):
            call()
    with pytest.raises(UnsupportedTrace, match="no times"):
        window(trace.with_definition(time_unit="none"), 0, 1)
    no_tree = Trace.of_requests([[1, 2], [2, 1]], identity="raw")
    with pytest.raises(UnsupportedTrace, match="form no tree"):
        reblock(no_tree, 2)
