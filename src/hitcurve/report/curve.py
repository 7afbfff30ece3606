"""Facts in, the report and the plot of a hit curve out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve import wording
from hitcurve._version import __version__
from hitcurve.errors import UnsupportedTrace
from hitcurve.lru import Facts, HybridFacts, lru_facts
from hitcurve.lru.hits import Curve, Hits
from hitcurve.report.answers import Answer, answer, room, sentence, usual_targets
from hitcurve.report.capacity import Capacity
from hitcurve.report.definition import hit_definition, hit_lines
from hitcurve.report.report import Report
from hitcurve.report.terminal import terminal_plot
from hitcurve.table import Table
from hitcurve.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LADDER = 14  # rows of the table where nobody named capacities
SAMPLES = 2000  # points of a curve that is drawn: more than a picture has columns


class Curves:
    """The curve of each TTL (seconds, None: no TTL), and every view of it.

    ``block_bytes``: bytes of cache for one block, where sizes are wanted in bytes.
    """

    in_bytes = False  # whether the capacities of the facts are bytes already

    def __init__(self, facts: Hits, ttls: Sequence[float | None] = (None,), block_bytes: int | None = None) -> None:
        self.facts, self.ttls, self.block_bytes = facts, list(ttls), block_bytes
        self.trace = facts.trace
        self.block_size = self.trace.definition.block_size
        self.in_tokens = facts.in_tokens and bool(self.trace.n_input_tokens)
        self.of = "tokens" if self.in_tokens else "blocks"
        self.total = (self.trace.n_input_tokens if self.in_tokens else self.trace.n_block_refs) or 0
        self.unit = (self.block_size if self.in_tokens else 1) or 1  # what one hit is worth, of the total

    @cached_property
    def curves(self) -> list[Curve]:
        """For each TTL the hits in full blocks, or in blocks where tokens are not known."""
        return [self.facts.full_block_curve(t) if self.in_tokens else self.facts.block_curve(t) for t in self.ttls]

    def ceiling(self, curve: Curve) -> float:
        """The hit ratio of an infinite cache."""
        return curve.most * self.unit / max(self.total, 1)

    def answers(self, targets: Sequence[Fraction] = ()) -> list[list[Answer]]:
        """For each TTL one answer a target (default: the last round figure in reach and the first out of it)."""
        return [
            answer(targets or usual_targets(self.ceiling(curve)), curve, self.total, self.unit, ttl)
            for ttl, curve in zip(self.ttls, self.curves, strict=True)
        ]

    def report(
        self,
        capacities: Sequence[Capacity] = (),
        targets: Sequence[Fraction] = (),
        by: str | tuple[str, float] | None = None,
        whole: bool = False,
        picture: bool = False,
    ) -> Report:
        """Answers, table, definition.  ``whole``: all steps; ``by``: as in ``Facts.points``; ``picture``: a plot of
        characters.
        """
        answers = self.answers(targets)
        asked = list(capacities) or self._ladder()
        table = self._whole() if whole else self._points(asked, by)
        return Report(
            answers=self._sentences(answers),
            shown=self._shown(table) if by or whole or len(self.ttls) == 1 else self._side_by_side(table),
            table=table,
            document={
                "trace": self.trace.summary(),
                "definition": hit_definition(self.facts),
                "points": list(table.rows()),
                "answers": [self._answer(a) for each in answers for a in each],
                **self._sizes(),
                "hitcurve": __version__,
            },
            footing=self._footing(),
            picture=self._picture() if picture else "",
            names=int(by is not None),
        )

    def figure(self, targets: Sequence[Fraction] = (), title: str | None = None) -> Figure:
        """A matplotlib Figure of all TTLs, the answers marked.  UnsupportedTrace where nothing ever hits."""
        from hitcurve.report.plots import Line, curve_figure

        lines = []
        for ttl, curve, answers in zip(self.ttls, self.curves, self.answers(targets), strict=True):
            marks = [
                (a.capacity_blocks, f"{wording.share(float(a.target))} needs {self._short_room(a.capacity_blocks)}")
                for a in answers
                if a.capacity_blocks
            ]
            if curve.most:
                label = "no TTL" if ttl is None else f"TTL {wording.seconds(ttl)}"
                lines.append(Line(label, *self._sampled(curve), marks))
        if not lines:
            raise UnsupportedTrace("no block is ever hit: there is no curve to draw")
        definition = self.trace.definition
        name = Path(definition.sources[0]).name if len(definition.sources) == 1 else definition.format
        return curve_figure(
            lines,
            counted=f"input {self.of}" if self.in_tokens else self.of,
            title=title or f"Exact LRU hit curve of {name}",
            note=hit_lines(self.facts)[0],
            block_bytes=self.block_bytes,
            block_size=self.block_size,
            in_bytes=self.in_bytes,
        )

    def draw(self, path: str | os.PathLike[str], targets: Sequence[Fraction] = (), title: str | None = None) -> None:
        """Write the figure as png or svg."""
        from hitcurve.report.plots import save

        save(self.figure(targets, title), path)

    def _sentences(self, answers: Sequence[Sequence[Answer]]) -> list[str]:
        lines = [sentence(each, self.of, self._room) for each in answers]
        for ttl, curve in zip(self.ttls, self.curves, strict=True):
            if ttl is None and curve.most:
                enough = self._room(curve.smallest(curve.most) or 0)
                lines.append(
                    f"{enough} reaches the ceiling of {wording.share(self.ceiling(curve))}; more gives no more"
                )
        if not self.facts.exact:
            lines.append("a lower bound: one id stands after different ids, so that only an infinite cache is exact")
        return lines

    def _ladder(self) -> list[Capacity]:
        """Powers of two, in bytes where known, up to the first that reaches the ceiling; then infinite."""
        knee = max((curve.smallest(curve.most) or 1 for curve in self.curves), default=1)
        unit = self.block_bytes or 1
        top = (knee * unit - 1).bit_length()
        steps = [2**p for p in range(max(0, top - LADDER + 2), top + 1) if 2**p >= unit]
        return [*(Capacity(bytes=n) if self.block_bytes else Capacity(blocks=n) for n in steps), Capacity()]

    def _points(self, asked: Sequence[Capacity], by: str | tuple[str, float] | None) -> Table:
        """``Facts.points``, with the bytes that were asked for."""
        blocks = [capacity.in_blocks(self.block_bytes) for capacity in asked]
        table = self.facts.points(blocks, self.ttls, self.block_bytes, by)
        if not len(table):
            return table
        sizes = [capacity.in_bytes(self.block_bytes) for capacity in asked]
        groups = len(table) // (len(self.ttls) * len(asked))
        repeated = [size for _ in self.ttls for size in sizes for _ in range(groups)]
        return Table({**table.columns, "capacity_bytes": repeated}, table.provenance)

    def _whole(self) -> Table:
        """All steps of all TTLs, in the columns of ``points``."""
        tables = [self.facts.curve(ttl) for ttl in self.ttls]
        columns: dict[str, Any] = {}
        for name in tables[0].columns:
            columns[name] = np.concatenate([table[name] for table in tables])
            if name == self.facts.axis:
                if self.block_bytes and not self.in_bytes:
                    columns["capacity_bytes"] = columns[name] * self.block_bytes
                each = zip(self.ttls, tables, strict=True)
                columns["ttl_seconds"] = [ttl for ttl, table in each for _ in range(len(table))]
        return Table(columns, {**tables[0].provenance, "ttl_seconds": self.ttls, **self._sizes()})

    def _shown(self, table: Table) -> Table:
        """The table for people."""
        columns: dict[str, list[str]] = {}
        for name, values in table.columns.items():
            values = values.tolist() if isinstance(values, np.ndarray) else values
            if name in _HEADINGS:
                heading, text = _HEADINGS[name]
            elif name in _LEFT_OUT:
                continue
            else:
                heading, text = name.replace("_", " "), str  # the group
            empty = {self.facts.axis: "infinite"}.get(name, "" if name in _HEADINGS else "(none)")
            cells = [empty if value is None else text(value) for value in values]
            if name == "ttl_seconds":
                cells = [cell or "none" for cell in cells]
                if not any(ttl is not None for ttl in self.ttls):
                    continue
            if any(cells):
                columns[heading] = cells
        return Table(columns)

    def _side_by_side(self, table: Table) -> Table:
        """One row a capacity, one column a TTL, the ratio in the cell."""
        n = len(table) // len(self.ttls)
        sizes = [name for name in ("capacity_blocks", "capacity_bytes") if name in table.columns]
        shown = dict(self._shown(Table({name: table[name][:n] for name in sizes})).columns)
        ratios = table["token_hit_ratio" if self.in_tokens else "block_hit_ratio"]
        for i, ttl in enumerate(self.ttls):
            heading = f"of {self.of}, " + ("no TTL" if ttl is None else f"TTL {wording.seconds(ttl)}")
            shown[heading] = [_percent(ratio) for ratio in ratios[i * n : (i + 1) * n]]
        return Table(shown)

    def _sampled(self, curve: Curve) -> tuple[np.ndarray, np.ndarray]:
        """Capacities and hit ratios to draw, from where something hits to where all does."""
        low, high = curve.smallest(1) or 1, curve.smallest(curve.most) or 1
        capacities = np.unique(np.geomspace(low, high, SAMPLES).round().astype(np.int64))
        return capacities, curve.at(capacities) * self.unit / self.total

    def _picture(self) -> str:
        """The first curve, drawn with characters."""
        curve = self.curves[0]
        if not curve.most:
            return ""
        capacities, ratios = self._sampled(curve)
        shown = ratios >= 0.02 * ratios[-1]
        unit = self.block_bytes or 1
        ticks = [(2**p / unit, wording.size(2**p) if self.block_bytes else wording.short(2**p)) for p in range(60)]
        low, high = int(capacities[shown][0]), int(capacities[-1])
        drawn = terminal_plot(
            [*capacities[shown], high * (high / low) ** 0.06],
            [*ratios[shown], ratios[-1]],
            [tick for tick in ticks if tick[0] >= low],
        )
        return f"share of {self.of} that hit, by cache size{'' if self.block_bytes else ' in blocks'}\n{drawn}"

    def _answer(self, answer: Answer) -> dict[str, Any]:
        """An answer in the JSON document."""
        return answer.as_dict(self.block_bytes)

    def _sizes(self) -> dict[str, Any]:
        """What capacities in bytes rest on."""
        return {"block_bytes": self.block_bytes}

    def _footing(self) -> list[str]:
        return hit_lines(self.facts)

    def _room(self, blocks: int) -> str:
        return room(blocks, self.block_bytes, self.block_size)

    def _short_room(self, blocks: int) -> str:
        return wording.size(blocks * self.block_bytes) if self.block_bytes else f"{wording.count(blocks)} blocks"


def _percent(ratio: float) -> str:
    return f"{ratio * 100:.2f} %"


_HEADINGS: dict[str, tuple[str, Any]] = {
    "capacity_blocks": ("blocks", wording.count),
    "capacity_bytes": ("size", wording.size),
    "ttl_seconds": ("TTL", wording.seconds),
    "hit_blocks": ("hit blocks", wording.count),
    "block_hit_ratio": ("of blocks", _percent),
    "token_hit_ratio": ("of tokens", _percent),
    "requests": ("requests", wording.count),
}
_LEFT_OUT = ("hit_tokens", "tail_hit_tokens", "block_refs", "input_tokens")


def plot(
    source: Facts | HybridFacts | Trace,
    *,
    ttls: Sequence[float | None] = (None,),
    targets: Sequence[float] = (),
    block_bytes: int | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw the exact hit curve of facts (or of a trace) in one call; returns the matplotlib Figure.

    ``ttls`` seconds, None for no TTL; ``targets`` hit ratios to mark; ``block_bytes`` puts bytes on the x axis
    (hybrid facts have them there); ``path`` also writes a .png or .svg.  HitcurveError where matplotlib is missing.
    """
    if isinstance(source, HybridFacts):
        from hitcurve.report.hybrid_curve import HybridCurves

        curves: Curves = HybridCurves(source, ttls)
    else:
        curves = Curves(source if isinstance(source, Facts) else lru_facts(source), ttls, block_bytes)
    wanted = [Fraction(str(target)) for target in targets]
    if path is not None:
        curves.draw(path, wanted)
    return curves.figure(wanted)
