"""The report and the plot of the hit curve of a hybrid model: capacities are bytes, and nothing but bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hitcurve import wording
from hitcurve.errors import BadParameter
from hitcurve.lru import HybridFacts
from hitcurve.report.answers import Answer
from hitcurve.report.capacity import Capacity
from hitcurve.report.curve import Curves
from hitcurve.table import Table


class HybridCurves(Curves):
    """As ``Curves``, of facts whose capacities are bytes: one unit of them has one byte."""

    in_bytes = True

    def __init__(self, facts: HybridFacts, ttls: Sequence[float | None] = (None,)) -> None:
        super().__init__(facts, ttls, block_bytes=1)
        self.charges = facts.charges

    def _points(self, asked: Sequence[Capacity], by: str | tuple[str, float] | None) -> Table:
        if any(capacity.blocks is not None for capacity in asked):
            raise BadParameter("a hybrid model caches blocks and states: its capacities are bytes (24GiB), not blocks")
        return self.facts.points([capacity.bytes for capacity in asked], self.ttls, by=by)

    def _answer(self, answer: Answer) -> dict[str, Any]:
        told = answer.as_dict(1)
        del told["capacity_blocks"]
        return told

    def _sizes(self) -> dict[str, Any]:
        full, linear, step = self.charges
        return {"full_bytes": full, "linear_bytes": linear, "linear_step_blocks": step}

    def _footing(self) -> list[str]:
        full, linear, step = self.charges
        every = "at each block" if step == 1 else f"every {wording.counted(step, 'block')}"
        model = (
            f"model: {wording.size(full)} a block (full attention), {wording.size(linear)} a state (linear attention); "
            f"states {every} and at the end of a request"
        )
        counted, *others = super()._footing()
        return [counted, model, *others]

    def _room(self, blocks: int) -> str:
        return wording.size(blocks)
