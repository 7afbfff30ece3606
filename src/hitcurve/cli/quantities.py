"""Option values with units: capacities, sizes in bytes, durations, shares.

capacity   16384, 16k, 1m (blocks, powers of 1024), 24GiB, 80GB (bytes, needs bytes per block), inf
bytes      98304, 96KiB, 1.5MiB, 100kB    (KiB MiB GiB TiB PiB: powers of 1024; kB MB GB TB PB: powers of 1000)
duration   300, 300s, 5m, 1h, 2d, 250ms, inf (no TTL)
share      80%, 0.8
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import click

from hitcurve.errors import BadParameter
from hitcurve.report.capacity import Capacity

BINARY = {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40, "pib": 2**50}
DECIMAL = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "pb": 10**15}
BYTES = {"b": 1, **BINARY, **DECIMAL}
BLOCKS = {"": 1, "k": 2**10, "m": 2**20}
SECONDS: dict[str, int | Fraction] = {"": 1, "s": 1, "ms": Fraction(1, 1000), "m": 60, "min": 60, "h": 3600, "d": 86400}
INFINITE = ("inf", "infinite", "none")

MAX = 2**63 - 1


def number_and_unit(text: str) -> tuple[Fraction, str] | None:
    """``1.5GiB`` -> (3/2, ``gib``); None where the text does not start with a plain number.

    >>> number_and_unit("1.5 GiB"), number_and_unit("16k"), number_and_unit("-3")
    ((Fraction(3, 2), 'gib'), (Fraction(16, 1), 'k'), None)
    """
    match = re.fullmatch(
        r"([0-9]{1,20}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})\s*([a-z%]*)", text.strip().lower().replace("_", "")
    )
    return (Fraction(match[1]), match[2]) if match else None


class _Quantity(click.ParamType):
    """A type whose ``parse`` returns None for text it cannot understand."""

    wanted: str

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        result = self.parse(value)
        if result is None:
            self.fail(f"wanted {self.wanted}, found {value!r}", param, ctx)
        return result

    def parse(self, text: str) -> Any:
        raise AssertionError("each quantity parses its own text")


class CapacityType(_Quantity):
    name = "capacity"
    wanted = "blocks (16384, 16k, 1m), bytes (24GiB, 80GB) or inf"

    def parse(self, text: str) -> Capacity | None:
        if text.strip().lower() in INFINITE:
            return Capacity()
        found = number_and_unit(text)
        if found is None or found[0] == 0:
            return None
        number, unit = found
        size = number * (BLOCKS[unit] if unit in BLOCKS else BYTES.get(unit, 0))
        if size.denominator != 1 and unit in BYTES:
            size = Fraction(int(size))
        if not 1 <= size <= MAX or size.denominator != 1:
            return None
        return Capacity(blocks=int(size)) if unit in BLOCKS else Capacity(bytes=int(size))


class BytesType(_Quantity):
    name = "bytes"
    wanted = "a size in bytes (98304, 96KiB, 1.5MiB)"

    def parse(self, text: str) -> int | None:
        found = number_and_unit(text)
        if found is None or found[1] not in {"", *BYTES}:
            return None
        size = found[0] * BYTES.get(found[1], 1)
        return int(size) if size.denominator == 1 and 1 <= size <= MAX else None


class DurationType(_Quantity):
    name = "duration"
    wanted = "a time (300, 5m, 1h, 2d, 250ms) or inf for none"

    def parse(self, text: str) -> float | None:
        """Seconds; ``inf`` is math.inf."""
        if text.strip().lower() in INFINITE:
            return float("inf")
        found = number_and_unit(text)
        if found is None or found[1] not in SECONDS or found[0] == 0:
            return None
        seconds = found[0] * SECONDS[found[1]]
        if seconds > 2**63 // 10**9:
            return None
        return float(seconds) if seconds.denominator != 1 else int(seconds)


class FiniteType(DurationType):
    name = "time"
    wanted = "a time (300, 5m, 1h, 2d, 250ms)"

    def parse(self, text: str) -> float | None:
        """Seconds, never ``inf``."""
        seconds = super().parse(text)
        return None if seconds == float("inf") else seconds


class ShareType(_Quantity):
    name = "share"
    wanted = "a share (80% or 0.8)"

    def parse(self, text: str) -> Fraction | None:
        found = number_and_unit(text)
        if found is None or found[1] not in {"", "%"}:
            return None
        share = found[0] / 100 if found[1] else found[0]
        return share if 0 < share <= 1 else None


CAPACITY, SIZE, DURATION, FINITE, SHARE = CapacityType(), BytesType(), DurationType(), FiniteType(), ShareType()


def listed(values: tuple[str, ...], kind: click.ParamType, option: str, repeats: bool = False) -> list[Any]:
    """The values of an option that may be repeated, each a list with commas; equal ones once, unless ``repeats``."""
    parts = [part for value in values for part in value.split(",") if part.strip()]
    if values and not parts:
        raise BadParameter(f"{option}: wanted at least one value, found none")
    found = [kind.convert(part.strip(), click.Option([option]), None) for part in parts]
    return found if repeats else list(dict.fromkeys(found))


def bytes_a_block(
    sizes: Sequence[Capacity], block_bytes: int | None, bytes_per_token: int | None, block_size: int | None
) -> int | None:
    """Bytes of cache for one block, from --block-bytes or --bytes-per-token; None where no capacity needs it."""
    if block_bytes and bytes_per_token:
        raise BadParameter("--block-bytes and --bytes-per-token say the same: give one of them")
    if bytes_per_token and block_size is None:
        raise BadParameter("--bytes-per-token needs the block size (--block-size N), or give --block-bytes")
    if bytes_per_token and block_size:
        block_bytes = bytes_per_token * block_size
    if block_bytes is None and any(size.bytes for size in sizes):
        raise BadParameter("a capacity in bytes needs --block-bytes or --bytes-per-token")
    return block_bytes
