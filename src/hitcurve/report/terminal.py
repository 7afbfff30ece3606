"""A hit curve drawn with characters, for terminals without pictures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_EIGHTHS = " ▁▂▃▄▅▆▇█"


def terminal_plot(
    capacities: Sequence[float],
    ratios: Sequence[float],
    ticks: Sequence[tuple[float, str]],
    *,
    ceiling: float | None = None,
    width: int = 64,
    height: int = 10,
) -> str:
    """The step function as filled columns over a logarithmic axis, about ``height`` lines tall, and two for the axis.

    ``capacities`` ascending and > 0, ``ratios`` the hit ratio from each on; ``ticks`` (capacity, text) on the x axis.
    The ratio axis runs from 0 to the next round ten above ``ceiling`` (default: the last ratio).
    """
    x, y = np.asarray(capacities, float), np.asarray(ratios, float)
    if not len(x):
        return ""
    ceiling = float(y[-1]) if ceiling is None else ceiling
    tens = min(10, max(1, int(np.ceil(ceiling * 10 - 1e-9))))
    each = max(1, round(height / tens))  # lines for ten per cent
    top, height = tens / 10, tens * each
    low, high = np.log(x[0]), np.log(max(x[-1], x[0] * 2))
    at = np.exp(low + (high - low) * (np.arange(width) + 0.5) / width)
    row = np.searchsorted(x, at, side="right") - 1
    levels = np.where(row >= 0, y[row] / top, 0) * height * 8
    lines = []
    for line in range(height):
        floor = (height - 1 - line) * 8
        cells = "".join(_EIGHTHS[int(np.clip(round(level - floor), 0, 8))] for level in levels)
        mark = f"{10 * (height - line) // each} %" if line % each == 0 else ""
        lines.append(f"{mark:>6} ┤{cells}" if mark else f"{'':>6} │{cells}")
    axis, labels = ["─"] * width, [" "] * (width + 12)
    free = 0
    for value, text in ticks:
        column = int((np.log(value) - low) / (high - low) * width)
        start = max(0, column - len(text) // 2)
        if 0 <= column < width and start >= free and start + len(text) <= len(labels):
            axis[column] = "┬"
            labels[start : start + len(text)] = text
            free = start + len(text) + 2
    lines.append(f"{'0 %':>6} └{''.join(axis)}")
    lines.append(f"{'':>8}{''.join(labels).rstrip()}")
    return "\n".join(line.rstrip() for line in lines)
