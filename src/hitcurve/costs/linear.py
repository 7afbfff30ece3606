"""The block at position p costs A + B p: A for what every token costs, B for its attention to all before it."""

from __future__ import annotations

import math

from hitcurve.costs.cost import Cost, CostModel
from hitcurve.errors import BadParameter


def linear(argument: str) -> Cost:
    """From ``A,B``, two finite numbers."""
    try:
        a, b = (float(part) for part in argument.split(","))
        if not (math.isfinite(a) and math.isfinite(b)):
            raise ValueError
    except ValueError:
        raise BadParameter(f"cost linear: wanted two numbers as linear:865,2, found {argument!r}") from None
    name = "linear:" + "".join(argument.split())
    return Cost(name, lambda position: a + b * position, depends_on_position=b != 0)


MODEL = CostModel("linear", "A + B p at position p", linear, argument="A,B")
