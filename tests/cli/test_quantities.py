"""Capacities, sizes, times and shares as people write them."""

from __future__ import annotations

import math
from fractions import Fraction

import click
import pytest

from hitcurve.cli.quantities import CAPACITY, DURATION, FINITE, SHARE, SIZE, Capacity, listed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("16384", Capacity(blocks=16384)),
        ("16k", Capacity(blocks=16384)),
        ("16K", Capacity(blocks=16384)),
        ("1.5k", Capacity(blocks=1536)),
        ("1m", Capacity(blocks=2**20)),
        ("1_000", Capacity(blocks=1000)),
        ("24GiB", Capacity(bytes=24 * 2**30)),
        ("24gib", Capacity(bytes=24 * 2**30)),
        ("1 TiB", Capacity(bytes=2**40)),
        ("80GB", Capacity(bytes=80 * 10**9)),
        ("0.5TB", Capacity(bytes=5 * 10**11)),
        ("100B", Capacity(bytes=100)),
        ("inf", Capacity()),
        ("INF", Capacity()),
    ],
)
def test_capacity(text, expected):
    assert CAPACITY.convert(text, None, None) == expected


@pytest.mark.parametrize(
    "text",
    ["", "0", "-1", "1.5", "1e3", "24G", "24 gigs", "nan", "0x10", "1.0001k", "k", "٣", "99999999999999999999999"],
)
def test_no_capacity(text):
    with pytest.raises(click.BadParameter, match="wanted blocks"):
        CAPACITY.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "expected"), [("98304", 98304), ("96KiB", 98304), ("1.5MiB", 3 << 19), ("96kB", 96000)]
)
def test_size(text, expected):
    assert SIZE.convert(text, None, None) == expected


@pytest.mark.parametrize("text", ["0", "16k", "1.5", "0.3KiB", "-5", "inf"])
def test_no_size(text):
    with pytest.raises(click.BadParameter, match="wanted a size"):
        SIZE.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("300", 300), ("5m", 300), ("5min", 300), ("1h", 3600), ("2d", 172800), ("250ms", 0.25), ("inf", math.inf)],
)
def test_duration(text, expected):
    assert DURATION.convert(text, None, None) == expected


@pytest.mark.parametrize("text", ["0", "-1", "1y", "1e3", "", "9999999999d"])
def test_no_duration(text):
    with pytest.raises(click.BadParameter, match="wanted a time"):
        DURATION.convert(text, None, None)


def test_a_length_of_time_is_finite():
    assert FINITE.convert("5m", None, None) == 300
    for text in ("inf", "none", "0", "-1"):
        with pytest.raises(click.BadParameter, match=r"wanted a time \(300, 5m, 1h, 2d, 250ms\), found"):
            FINITE.convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "expected"), [("80%", Fraction(4, 5)), ("0.8", Fraction(4, 5)), ("99.9%", Fraction(999, 1000)), ("1", 1)]
)
def test_share(text, expected):
    assert SHARE.convert(text, None, None) == expected


@pytest.mark.parametrize("text", ["80", "0", "101%", "-5%", "most"])
def test_no_share(text):
    with pytest.raises(click.BadParameter, match="wanted a share"):
        SHARE.convert(text, None, None)


def test_lists_repeat_and_take_commas():
    assert listed(("16k, 64k", "inf"), CAPACITY, "--capacity") == [Capacity(16384), Capacity(65536), Capacity()]
