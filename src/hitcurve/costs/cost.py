"""What a cost model declares about itself, and a cost: the price of computing a block again, by its position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from hitcurve.errors import BadParameter

LARGEST = 2**31 - 1  # PrefixSim hands costs to policies as 32-bit integers


@dataclass(frozen=True)
class Cost:
    """``name`` as it was asked for; ``of`` maps positions (int64, 0 is the root) to costs (float64).

    >>> from hitcurve.costs import cost_named
    >>> cost_named("linear:865,2").of_positions(3)
    array([865., 867., 869.])
    """

    name: str
    of: Callable[[np.ndarray], np.ndarray]
    depends_on_position: bool = True

    def of_positions(self, n: int) -> np.ndarray:
        """float64 (n,): cost of positions 0 .. n - 1; BadParameter where one is negative or above 2^31 - 1."""
        costs = np.asarray(self.of(np.arange(n, dtype=np.int64)), np.float64)
        bad = np.flatnonzero(~((costs >= 0) & (costs <= LARGEST)))
        if len(bad):
            raise BadParameter(f"cost {self.name}: wanted 0 .. {LARGEST}, found {costs[bad[0]]:g} at position {bad[0]}")
        return costs


@dataclass(frozen=True)
class CostModel:
    """One cost model: ``make(argument)`` gives the Cost for what stands behind the colon of ``name:argument``.

    ``argument``: what stands there, in words; empty where there is none.  ``options``: what else ``make`` accepts.
    """

    name: str
    title: str
    make: Callable[..., Cost]
    argument: str = ""
    options: frozenset[str] = field(default_factory=frozenset)
