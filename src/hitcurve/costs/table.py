"""Measured costs: line p + 1 of a text file is the cost of the block at position p."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from hitcurve.costs.cost import Cost, CostModel
from hitcurve.errors import BadParameter

EXTENSIONS = ("last",)


def table(argument: str, extend: str | None = None) -> Cost:
    """From the path of the file.  A position past the last line is an error, or with ``extend="last"`` costs as much as
    the last line says."""
    if extend is not None and extend not in EXTENSIONS:
        raise BadParameter(f"extend: wanted 'last', found {extend!r}")
    costs = _read(argument)

    def of(position: np.ndarray) -> np.ndarray:
        if len(position) and extend is None and (last := int(position.max())) >= len(costs):
            raise BadParameter(
                f"{argument}: has costs for {len(costs)} positions, but the trace has a request of {last + 1} blocks; "
                "--table-extend last (extend='last') repeats the last line's"
            )
        return costs[np.minimum(position, len(costs) - 1)]

    return Cost(f"table:{argument}", of, depends_on_position=bool(np.any(costs != costs[0])))


def _read(path: str) -> np.ndarray:
    if not path:
        raise BadParameter("cost table: wanted the path of a file, as table:costs.txt")
    try:
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadParameter(f"{path}: {getattr(error, 'strerror', None) or 'is no text file'}") from None
    costs = np.empty(len(lines))
    for i, line in enumerate(lines):
        try:
            costs[i] = float(line)
            if not math.isfinite(costs[i]) or costs[i] < 0:
                raise ValueError
        except ValueError:
            raise BadParameter(f"{path}:{i + 1}: wanted a number >= 0, found {line[:40]!r}") from None
    if not len(costs):
        raise BadParameter(f"{path}: is empty; wanted one cost a line")
    return costs


MODEL = CostModel("table", "line p + 1 of FILE at position p", table, argument="FILE", options=frozenset({"extend"}))
