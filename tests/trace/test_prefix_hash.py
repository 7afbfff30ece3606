"""The prefix hash and the normalisation of requests, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hitcurve.errors import BadParameter
from hitcurve.trace.normalize import normalize_request, normalize_requests
from hitcurve.trace.prefix_hash import prefix_hash
from tests.naive import prefix_hash as naive


@given(st.lists(st.integers(-(2**63), 2**64 - 1), max_size=20))
def test_equals_the_twin(raw: list[int]) -> None:
    assert prefix_hash(raw).tolist() == naive.prefix_hash(raw)
    assert prefix_hash(np.array([r % 2**64 for r in raw], np.uint64)).tolist() == naive.prefix_hash(raw)


def test_vectors(litehit: Callable[[str], Any]) -> None:
    entries = litehit("prefix_hash")
    assert len(entries) == 12
    for entry in entries:
        found = prefix_hash(entry["requests"][0]["keys"]).tolist()
        assert found == entry["expected"]["chained"], entry["name"]


def test_normalisation_vectors(litehit: Callable[[str], Any]) -> None:
    entries = litehit("normalize")
    assert len(entries) == 16
    for entry in entries:
        request, expected = entry["requests"][0], entry["expected"]
        arguments = (request["keys"], request["len"], entry["block_size"])
        options = (entry["enable_prefix_hash"], entry["trace_block_size"])
        if "error" in expected:
            with pytest.raises(BadParameter):
                normalize_request(*arguments, *options)
        else:
            length, keys = normalize_request(*arguments, *options)
            assert (length, keys.tolist()) == (expected["input_token_len"], expected["block_keys"]), entry["name"]


@pytest.mark.parametrize(
    ("keys", "length", "size", "fine", "reason"),
    [
        ([1], 4, 0, 0, "block_size_tokens: wanted >= 1, found 0"),
        ([1], -1, 4, 0, "input_token_len: wanted >= 0, found -1"),
        ([1], 8, 6, 4, "block_size_tokens: wanted a multiple of 4, found 6"),
        ([1], 3, 4, 0, "keys: wanted 0, one for each full block of 4 of 3 tokens, found 1"),
    ],
)
def test_errors_say_what_was_wanted(keys: list[int], length: int, size: int, fine: int, reason: str) -> None:
    with pytest.raises(BadParameter) as caught:
        normalize_request(keys, length, size, trace_block_size_tokens=fine)
    assert str(caught.value) == reason


def test_every_fourth_chained_key() -> None:
    chained = naive.prefix_hash(list(range(9)))
    assert normalize_request(range(9), 37, 16, True, 4)[1].tolist() == [chained[3], chained[7]]


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12), max_size=6), st.integers(1, 5), st.booleans())
def test_many_requests_at_once(requests: list[list[int]], factor: int, chained: bool) -> None:
    keys = np.array([key for request in requests for key in request], np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(request) for request in requests], dtype=np.int64)])
    kept, ends = normalize_requests(keys, offsets, factor, chained)
    expected = [(naive.prefix_hash(request) if chained else request)[factor - 1 :: factor] for request in requests]
    assert [kept[a:b].tolist() for a, b in pairwise(ends)] == expected
