"""Every block costs 1: compute saving is the block hit ratio."""

from __future__ import annotations

import numpy as np

from hitcurve.costs.cost import Cost, CostModel

MODEL = CostModel(
    "uniform",
    "every block costs 1",
    lambda: Cost("uniform", lambda position: np.ones(len(position)), depends_on_position=False),
)
