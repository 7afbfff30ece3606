"""The block at position p costs p + 1: attention alone, over all blocks up to this one."""

from __future__ import annotations

from hitcurve.costs.cost import Cost, CostModel

MODEL = CostModel("position", "p + 1 at position p", lambda: Cost("position", lambda position: position + 1.0))
