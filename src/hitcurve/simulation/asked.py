"""What was asked of a simulation, checked: each returns the value in its own type, or raises BadParameter."""

from __future__ import annotations

from typing import Any

from hitcurve.errors import BadParameter
from hitcurve.simulation.result import MATCHES

ORDERS = ("deepest-first", "prefix")


def capacity_asked(capacity: Any) -> int | None:
    """Blocks, or None for room for everything."""
    if capacity is None:
        return None
    blocks = _whole(capacity)
    if blocks is None or not 1 <= blocks < 2**63:
        raise BadParameter(f"capacity: wanted a whole number of blocks >= 1, or None, found {capacity!r}")
    return blocks


def order_asked(replay_order: str) -> str:
    """One of ``ORDERS``."""
    if replay_order not in ORDERS:
        raise BadParameter(f"replay_order: wanted {' or '.join(ORDERS)}, found {replay_order!r}")
    return replay_order


def match_asked(match: str) -> str:
    """One of ``MATCHES``."""
    if match not in MATCHES:
        raise BadParameter(f"match: wanted {' or '.join(MATCHES)}, found {match!r}")
    return match


def seed_asked(seed: Any) -> int:
    """A whole number that fits int64."""
    number = _whole(seed)
    if number is None or not 0 <= number < 2**63:
        raise BadParameter(f"seed: wanted a whole number in 0 .. 2^63 - 1, found {seed!r}")
    return number


def _whole(value: Any) -> int | None:
    """``value`` as an int where it is a whole number, else None."""
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return None if isinstance(value, bool) or number != value else number
