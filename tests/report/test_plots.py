"""Pictures: same figure, same bytes; nothing half-written; a plain word where matplotlib is missing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from hitcurve.errors import BadParameter, HitcurveError, OutputError
from hitcurve.report.plots import Line, curve_figure, save
from hitcurve.report.terminal import terminal_plot

STEPS = np.arange(1, 5000)
LINES = [
    Line("no TTL", STEPS, 0.8 * (1 - np.exp(-STEPS / 900)), [(900, "50 %")]),
    Line("TTL 5 min", STEPS[:10], np.linspace(0.1, 0.4, 10)),
]


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, ending):
    for name in "ab":
        save(curve_figure(LINES, counted="tokens", block_bytes=1 << 20), tmp_path / f"{name}.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"a.{ending}", f"b.{ending}"]


def test_axes_say_what_they_show():
    figure = curve_figure(LINES, counted="input tokens", block_bytes=1 << 20, title="T")
    (axes,) = figure.axes
    assert axes.get_xlabel() == "cache size" and axes.get_ylabel() == "share of input tokens that hit"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["no TTL", "TTL 5 min"]
    ceiling = 0.8 * (1 - np.exp(-4999 / 900))
    assert any(np.allclose(line.get_ydata(), ceiling) for line in axes.lines)
    (one,) = curve_figure(LINES[:1], counted="blocks").axes
    assert one.get_legend() is None and one.get_xlabel() == "cache size, blocks"


@pytest.mark.parametrize("capacities", [[1], [7], [3, 3_000_000]])
def test_tiny_curves_are_drawn(tmp_path, capacities):
    ratios = np.linspace(0.5, 1, len(capacities))
    save(curve_figure([Line("x", np.array(capacities), ratios)], counted="blocks", block_size=16), tmp_path / "x.svg")


def test_a_long_curve_is_a_small_file(tmp_path):
    steps = np.arange(1, 2_000_000)
    save(curve_figure([Line("x", steps, steps / 4e6)], counted="blocks"), tmp_path / "x.svg")
    assert (tmp_path / "x.svg").stat().st_size < 250_000


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(BadParameter, match=r"\.png or \.svg"):
        save(curve_figure(LINES, counted="tokens"), tmp_path / "x.gif")


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(OutputError, match="No such file"):
        save(curve_figure(LINES, counted="tokens"), tmp_path / "nowhere" / "x.png")


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(HitcurveError, match=r"pip install 'hitcurve\[plot\]'"):
        curve_figure(LINES, counted="tokens")


def test_terminal_plot():
    ticks = [(1, "1"), (16, "16"), (64, "64")]
    drawn = terminal_plot([1, 4, 16, 64, 256], [0.1, 0.2, 0.3, 0.4, 0.4], ticks, width=12, height=4)
    assert drawn == "\n".join(
        [
            "  40 % ┤         ███",
            "  30 % ┤      ██████",
            "  20 % ┤   █████████",
            "  10 % ┤████████████",
            "   0 % └┬─────┬─────",
            "        1    16",  # no room for 64
        ]
    )


def test_terminal_plot_of_nothing_and_of_one_step():
    assert terminal_plot([], [], []) == ""
    assert "█" in terminal_plot([5], [1.0], [(5, "5")])
