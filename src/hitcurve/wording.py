"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence

_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
_TIMES = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def count(number: int) -> str:
    """
    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def counted(number: int, noun: str) -> str:
    """
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def and_more(names: Sequence[str], most: int = 1) -> str:
    """The first ``most`` names, and how many others there are.

    >>> and_more(["a", "b", "c"]), and_more(["a", "b"], most=3)
    ('a and 2 more', 'a, b')
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def size(number: int) -> str:
    """Bytes in binary units, three digits or more.

    >>> size(1), size(1536), size(412 * 2**30), size(2**60 * 1500)
    ('1 B', '1.5 KiB', '412 GiB', '1,500 EiB')
    """
    power = min(max((number.bit_length() - 1) // 10, 0), len(_BINARY) - 1)
    value = number / 1024**power
    return f"{_digits(value)} {_BINARY[power]}"


def share(ratio: float) -> str:
    """A ratio in per cent, one digit after the point, never rounded up to all or down to nothing.

    >>> share(0.885), share(0.8), share(0.99999), share(1), share(0.00001), share(0)
    ('88.5 %', '80 %', '> 99.9 %', '100 %', '< 0.1 %', '0 %')
    """
    percent = float(ratio) * 100
    text = f"{percent:.1f}"
    if text == "100.0" and percent < 100:
        return "> 99.9 %"
    if text == "0.0" and percent > 0:
        return "< 0.1 %"
    return f"{text.removesuffix('.0')} %"


def seconds(number: float) -> str:
    """
    >>> seconds(300), seconds(3600), seconds(5400), seconds(0.25), seconds(90), seconds(86400 * 3)
    ('5 min', '1 h', '90 min', '250 ms', '90 s', '3 d')
    """
    for unit, factor in _TIMES:
        if number >= factor and (number / factor).is_integer():
            return f"{number / factor:,.0f} {unit}"
    return f"{number * 1000:g} ms" if number < 1 else f"{number:,.1f} s"


def short(number: float) -> str:
    """Counts in powers of 1024, as capacities are written.

    >>> short(512), short(16384), short(2**21)
    ('512', '16k', '2m')
    """
    for unit, factor in (("m", 2**20), ("k", 2**10)):
        if number >= factor:
            return f"{number / factor:g}{unit}"
    return f"{number:g}"


def _digits(value: float) -> str:
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}".removesuffix(".0") if value >= 10 else f"{value:.2f}".rstrip("0").rstrip(".")
