"""A trace checks its columns once, says what it is, and hands out its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.trace import Definition, Labels, RawIds, Trace
from tests.trace.sameness import named


@pytest.fixture
def trace() -> Trace:
    return Trace.of_requests(
        [[7, 8, 9], [], [7, 8, 10]],
        times=[0, 0.5, 0.5],
        block_size=16,
        input_tokens=[50, 3, 48],
        output_tokens=[1, -1, 2],
        session=Labels.of(["a<b", None, "c"]),
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"arrival_ns": [0, 5, 4]}, "arrival_ns: wanted never decreasing, found a step back at row 2"),
        (
            {"arrival_ns": [-(2**62), 0, 2**62]},
            "arrival_ns: wanted times less than 2^63 ns (292 years) apart, found others",
        ),
        ({"input_tokens": [1, 2]}, "input_tokens: wanted 3 rows, found 2"),
        ({"turn": [[1, 2, 3]]}, "turn: wanted one dimension, found 2"),
        ({"turn": [0, 1.5, 2]}, "turn: wanted values of int32, found others"),
        ({"output_tokens": [0, float("nan"), 2]}, "output_tokens: wanted values of int64, found others"),
        ({"turn": [0, 2**40, 2]}, "turn: wanted values of int32, found others"),
        ({"session": Labels([0, 0], ("a",))}, "session: wanted 3 rows, found 2"),
        ({"span_offsets": [0, 1, 1]}, "span_offsets: wanted 4 never decreasing values from 0 to 3"),
        ({"span_offsets": [0, 2, 1, 3]}, "span_offsets: wanted 4 never decreasing values from 0 to 3"),
        ({"span_length": [3, 2]}, "span_length: wanted 3 values, found 2"),
        ({"span_length": [3, 0, 1]}, "spans: wanted lengths >= 1 within blocks 0 .. 3"),
        ({"span_first": [0, 0, 4]}, "spans: wanted lengths >= 1 within blocks 0 .. 3"),
        ({"span_first": [1, 0, 3]}, "spans: wanted blocks numbered in order of first appearance, found others"),
        ({"n_blocks": 5, "raw_ids": None}, "spans: wanted blocks numbered in order of first appearance, found others"),
        ({"raw_ids": RawIds(np.arange(3))}, "raw_ids: wanted 4 values, found 3"),
        ({"definition": Definition(block_size=0)}, "block_size: wanted >= 1, found 0"),
    ],
)
def test_columns_that_cannot_be(trace: Trace, change: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadParameter) as caught:
        replace(trace, **change)
    assert str(caught.value) == reason


def test_columns_are_read_only(trace: Trace) -> None:
    with pytest.raises(ValueError, match="read-only"):
        trace.arrival_ns[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        trace.span_first[0] = 1


def test_what_it_says(trace: Trace) -> None:
    assert repr(trace) == "<Trace: 3 requests, 6 block references, 4 unique blocks, block size 16, memory>"
    assert len(trace) == trace.n_requests == 3
    assert trace.n_input_tokens == 101
    assert trace.request_blocks.tolist() == [3, 0, 3]
    assert trace.new_block_offsets.tolist() == [0, 3, 3, 4]
    assert list(trace.spans(2)) == [(0, 2), (3, 1)]
    html = trace._repr_html_()
    assert "<th>unique_blocks</th><td>4</td>" in html and "<th>block_size</th><td>16</td>" in html
    with pytest.raises(UnsupportedTrace, match="this trace has no request type column"):
        trace.labels("request_type")


def test_rows_for_pandas_and_arrow(trace: Trace) -> None:
    frame = trace.to_pandas()
    assert frame["blocks"].tolist() == [3, 0, 3]
    assert frame["output_tokens"].isna().tolist() == [False, True, False]
    assert frame["session"].isna().tolist() == [False, True, False]
    assert frame.attrs["hitcurve"] == trace.summary()
    table = trace.to_arrow()
    assert table["output_tokens"].to_pylist() == [1, None, 2]
    assert table["session"].to_pylist() == ["a<b", None, "c"]
    assert table["new_raw_ids"].to_pylist() == [[7, 8, 9], [], [10]]


@given(st.lists(st.one_of(st.none(), st.sampled_from("abc")), max_size=12), st.data())
def test_labels(values: list[str | None], data: Any) -> None:
    labels = Labels.of(values)
    if not any(values):
        assert labels is None
        return
    assert labels is not None
    assert named(labels) == values
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=12))
    taken = labels.take(np.array(rows, np.int64))
    assert named(taken) == [values[r] for r in rows]
    assert taken.names == tuple(dict.fromkeys(values[r] for r in rows if values[r] is not None))


def test_label_codes_out_of_range() -> None:
    with pytest.raises(BadParameter, match=r"label codes must lie in -1 \.\. 0"):
        Labels(np.array([1]), ("a",))


def test_definition_survives_its_dictionary() -> None:
    told = Definition(block_size=16, sources=("a", "b"), notes=("x",))
    assert Definition.of_dict(told.as_dict()) == told
