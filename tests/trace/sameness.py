"""Two traces are the same: every column, every label of every row, every raw id, everything said about them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hitcurve.trace import LABEL_COLUMNS, Trace


def told(trace: Trace) -> dict[str, Any]:
    """All of a trace in plain Python."""
    return {
        **{name: listed(getattr(trace, name)) for name in COLUMNS},
        **{name: named(getattr(trace, name)) for name in LABEL_COLUMNS},
        "raw_ids": None if trace.raw_ids is None else [trace.raw_ids[b] for b in range(trace.n_blocks)],
        "n_blocks": trace.n_blocks,
        "contract": trace.contract,
        "definition": trace.definition,
    }


COLUMNS = (
    "arrival_ns",
    "span_offsets",
    "span_first",
    "span_length",
    "input_tokens",
    "output_tokens",
    "completion_ns",
    "turn",
)


def listed(array: np.ndarray | None) -> list[int] | None:
    return None if array is None else array.tolist()


def named(labels: Any) -> list[str | None] | None:
    return None if labels is None else [labels[row] for row in range(len(labels))]
