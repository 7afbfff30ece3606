"""Plots: hit ratio over cache size, as png or svg.  matplotlib is loaded on use."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve import wording
from hitcurve.errors import BadParameter, HitcurveError
from hitcurve.publish import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")

INK, MUTED, GRID = "#1f2933", "#6b7785", "#e4e8ec"
LINES = ("#2563b0", "#d9772b", "#3a8f6b", "#8a5aa8", "#b8475a", "#7a7f2e")


@dataclass(frozen=True)
class Line:
    """One curve: ratio ``ratios[i]`` from ``capacities[i]`` blocks on (ascending), the last to infinity."""

    label: str
    capacities: np.ndarray
    ratios: np.ndarray
    marks: Sequence[tuple[float, str]] = field(default=())  # (capacity, text) of points worth naming


def curve_figure(
    lines: Sequence[Line],
    *,
    counted: str,
    title: str = "",
    note: str = "",
    block_bytes: int | None = None,
    block_size: int | None = None,
    in_bytes: bool = False,
) -> Figure:
    """Hit ratio over capacity.  ``counted``: what the ratio is of, such as ``input tokens``.

    x is bytes where ``block_bytes`` is given (blocks above), else blocks (tokens above where ``block_size`` is given).
    ``in_bytes``: the capacities of the lines are bytes already.
    """
    matplotlib = _matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine
    from matplotlib.ticker import FixedLocator, FuncFormatter, PercentFormatter

    unit = block_bytes or 1
    with matplotlib.rc_context(_STYLE):
        rect = (0, 0.035, 1, 0.965) if note else (0, 0, 1, 1)
        figure = Figure(figsize=(7.2, 4.3), layout=ConstrainedLayoutEngine(rect=rect))
        axes = figure.add_subplot()
        low = min(float(line.capacities[0]) for line in lines) * unit
        high = max(float(line.capacities[-1]) for line in lines) * unit
        low, high = _worth_showing(lines, unit, low, high)
        for line, color in zip(lines, _colors(len(lines)), strict=True):
            x, y = _visible(line, low / unit, high / unit)
            x = x * unit
            axes.plot(x, y, color=color, drawstyle="steps-post", label=line.label, zorder=3)
            if len(lines) == 1:
                axes.fill_between(x, y, step="post", color=color, alpha=0.09, linewidth=0, zorder=2)
        ceiling = max(float(line.ratios[-1]) for line in lines)
        axes.axhline(ceiling, color=MUTED, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
        axes.annotate(f"ceiling {wording.share(ceiling)}: an infinite cache", (0, ceiling), (6, 4), color=MUTED,
                      xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=8.5)  # fmt: skip
        for line, color in zip(lines, _colors(len(lines)), strict=True):
            for capacity, text in line.marks:
                row = int(np.searchsorted(line.capacities, capacity, side="right")) - 1
                ratio = float(line.ratios[max(row, 0)])
                axes.plot(
                    [capacity * unit] * 2, [0, ratio], color=color, linewidth=0.8, linestyle=(0, (2, 2)), zorder=2
                )
                axes.plot([capacity * unit], [ratio], "o", color="white", markeredgecolor=color, markersize=6, zorder=4)
                left = np.log(capacity * unit / low) > 0.3 * np.log(high / low)
                axes.annotate(text, (capacity * unit, ratio), (-10 if left else 9, 4 if left else -11), fontsize=8.5,
                              textcoords="offset points", ha="right" if left else "left", color=INK, zorder=5,
                              bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.9, "pad": 1.5})  # fmt: skip
        axes.set_xscale("log", base=2)
        axes.set_xlim(low, high)
        axes.set_ylim(0, min(1.0, ceiling * 1.14) if ceiling else 1.0)
        axes.xaxis.set_major_locator(FixedLocator(_powers(low, high)))
        axes.xaxis.set_major_formatter(
            FuncFormatter(lambda v, _: wording.size(int(v)) if in_bytes or block_bytes else wording.short(v))
        )
        axes.xaxis.set_minor_locator(FixedLocator([]))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        axes.set_xlabel("cache size" if in_bytes or block_bytes else "cache size, blocks")
        axes.set_ylabel(f"share of {counted} that hit")
        if not in_bytes:
            _upper_axis(axes, unit, low, high, block_bytes, block_size)
        if len(lines) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(0, ceiling / axes.get_ylim()[1] - 0.02), frameon=False)
        if title:
            axes.set_title(title, loc="left", pad=12, fontsize=11, color=INK)
        if note:
            figure.text(0.01, 0.005, note, fontsize=7, color=MUTED, va="bottom")
    return figure


def save(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write png or svg, what the ending says; the same figure gives the same bytes."""
    name = os.fspath(path).rsplit(".", 1)[-1].lower()
    if name not in FORMATS:
        raise BadParameter(f"{path}: a plot is written as .png or .svg, not {name!r}")
    matplotlib = _matplotlib()
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": "hitcurve"}), published(path) as file:
        figure.savefig(file, format=name, dpi=160, metadata={"Date": None} if name == "svg" else {"Software": None})


_STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#aab4be",
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "lines.linewidth": 1.9,
    "legend.fontsize": 8.5,
    "figure.facecolor": "white",
    "svg.fonttype": "path",
    "path.simplify": True,
    "path.simplify_threshold": 0.2,
}


def _matplotlib() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise HitcurveError("plots need matplotlib: pip install 'hitcurve[plot]'") from None
    return matplotlib


def _colors(n: int) -> list[str]:
    return [LINES[i % len(LINES)] for i in range(n)]


def _worth_showing(lines: Sequence[Line], unit: float, low: float, high: float) -> tuple[float, float]:
    """The stretch of x where something happens: from half of what gives 2 % of the ceiling to a bit of flat."""
    starts = [
        line.capacities[int(np.searchsorted(line.ratios, 0.02 * line.ratios[-1]))] * unit
        for line in lines
        if len(line.ratios)
    ]
    low = max(low, min(starts, default=low) / 2)
    high = max(high, low * 4)
    return low, low * (high / low) ** 1.06


def _visible(line: Line, low: float, high: float, columns: int = 720) -> tuple[np.ndarray, np.ndarray]:
    """The steps that a picture of that many columns can show: a whole curve may have millions."""
    at = np.searchsorted(line.capacities, np.geomspace(low, high, columns), side="right") - 1
    rows = np.unique(at[at >= 0])
    x, y = np.maximum(line.capacities[rows].astype(float), low), line.ratios[rows]
    if not len(rows) or x[0] > low:
        x, y = np.concatenate([[low], x]), np.concatenate([[0.0], y])
    return np.concatenate([x, [high]]), np.concatenate([y, y[-1:]])


def _powers(low: float, high: float) -> list[float]:
    first, last = int(np.ceil(np.log2(low))), int(np.floor(np.log2(high)))
    step = max(1, -(-(last - first + 1) // 8))
    return [2.0**k for k in range(first, last + 1) if k % step == 0]


def _upper_axis(
    axes: Any, unit: float, low: float, high: float, block_bytes: int | None, block_size: int | None
) -> None:
    """Blocks over bytes, or tokens over blocks."""
    if block_bytes is None and block_size is None:
        return
    from matplotlib.ticker import FixedLocator, FuncFormatter

    factor = 1 / unit if block_bytes else float(block_size or 1)
    upper = axes.secondary_xaxis("top", functions=(lambda x: x * factor, lambda x: x / factor))
    upper.xaxis.set_major_locator(FixedLocator(_powers(low * factor, high * factor)))
    upper.xaxis.set_major_formatter(FuncFormatter(lambda v, _: wording.short(v)))
    upper.xaxis.set_minor_locator(FixedLocator([]))
    upper.set_xlabel("blocks" if block_bytes else "tokens", fontsize=8.5, color=MUTED)
    upper.tick_params(labelsize=8, labelcolor=MUTED, length=3)
    upper.spines["top"].set_visible(False)
