"""The capacities of a query: in blocks, in bytes, or infinite."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from hitcurve.errors import BadParameter
from hitcurve.projection import INFINITE, blocks_of, whole_blocks

GIB = 2**30


class Slot(NamedTuple):
    """One capacity of a query, in blocks or in bytes (neither: infinite); ``name`` is what results call it.

    >>> Slot.of_gb(0.5), Slot.of_gb(-1), Slot.of_blocks(None)
    (Slot(name=0.5, blocks=None, bytes=536870912), Slot(name=-1, blocks=None, bytes=None), \
Slot(name='inf', blocks=None, bytes=None))
    """

    name: str | float
    blocks: int | None = None
    bytes: int | None = None

    @classmethod
    def of_blocks(cls, blocks: int | None) -> Slot:
        """So many blocks; None is infinite."""
        count = blocks_of(blocks)
        return cls("inf") if count == INFINITE else cls(str(count), blocks=count)

    @classmethod
    def of_gb(cls, gb: float) -> Slot:
        """So many times 2^30 bytes, rounded down to whole bytes; infinite where negative."""
        if math.isnan(gb):
            raise BadParameter("capacity_gb: wanted a number, found nan")
        if gb < 0 or gb == math.inf:
            return cls(-1 if math.isinf(gb) else _short(gb))
        return cls(_short(gb), bytes=math.floor(min(gb * GIB, INFINITE)))

    def room(self, block_bytes: int, in_bytes: bool) -> int:
        """What thresholds are compared with: blocks, or bytes where facts are ``in_bytes``.

        So many blocks are the bytes of so many full blocks there.
        """
        if self.blocks is not None:
            return min(self.blocks * block_bytes, INFINITE) if in_bytes else self.blocks
        if self.bytes is None:
            return INFINITE
        return self.bytes if in_bytes else whole_blocks(self.bytes, block_bytes)


def _short(number: float) -> float:
    """Without a point where there is nothing behind it; JSON numbers of more than 64 bits keep theirs."""
    return int(number) if float(number).is_integer() and abs(number) < INFINITE else number


class Capacities(NamedTuple):
    """The capacities of a query, in the order asked, and the field that names them in results."""

    slots: tuple[Slot, ...]
    field: str = "capacity"

    @classmethod
    def of_gb(cls, values: Iterable[float]) -> Capacities:
        """The original's list: binary GB, negative is infinite."""
        return cls(tuple(Slot.of_gb(value) for value in values), "capacity_gb")

    @property
    def names(self) -> list[str | float]:
        return [slot.name for slot in self.slots]
