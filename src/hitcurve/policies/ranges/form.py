"""What the file of a fast form declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hitcurve.kernels.bits import members
from hitcurve.kernels.runs import check_runs


class Size(NamedTuple):
    """What the state of a fast form is laid out for."""

    n_blocks: int
    capacity: int
    n_requests: int
    low_is_newer: bool  # the deepest block of a request is accessed first


@dataclass(frozen=True)
class RangeForm:
    """``new_state(size, params)`` -> NamedTuple with a field ``runs``; ``replay(frame, state, begin, end)`` as ever.

    ``remembered``  the queues whose blocks are gone
    """

    new_state: Callable[[Size, Any], Any]
    replay: Callable[..., int]
    remembered: tuple[int, ...] = ()

    def check(self, state: Any, frame: Any) -> None:
        """Assert that the queues hold the residents, and what is remembered and gone; for tests."""
        queues = check_runs(state.runs)
        there = [block for q, blocks in enumerate(queues) if q not in self.remembered for block in blocks]
        assert sorted(there) == members(frame.resident)
        gone = [block for q in self.remembered for block in queues[q]]
        assert not np.intersect1d(there, gone).size
