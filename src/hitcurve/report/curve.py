"""Facts in, the report and the plot of a hit curve out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hitcurve._version import __version__
from hitcurve.errors import UnsupportedTrace
from hitcurve.lru import Facts, lru_facts
from hitcurve.report import wording
from hitcurve.report.answers import Answer, answer, room, sentence, usual_targets
from hitcurve.report.definition import hit_definition, hit_lines
from hitcurve.report.report import Report
from hitcurve.report.terminal import terminal_plot
from hitcurve.table import Table
from hitcurve.trace import Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LADDER = 14  # rows of the table where nobody named capacities


class Curves:
    """The whole step function of each TTL (None: no TTL), and every view of it.

    ``block_bytes``: bytes of cache for one block, where sizes are wanted in bytes.
    """

    def __init__(self, facts: Facts, ttls: Sequence[float | None] = (None,), block_bytes: int | None = None) -> None:
        self.facts, self.ttls, self.block_bytes = facts, list(ttls), block_bytes
        self.trace = facts.trace
        self.block_size = self.trace.definition.block_size
        self.in_tokens = self.block_size is not None and bool(self.trace.n_input_tokens)
        self.of = "tokens" if self.in_tokens else "blocks"
        self.total = int(self.trace.n_input_tokens or 0) if self.in_tokens else self.trace.n_block_refs

    @cached_property
    def steps(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """For each TTL: capacities (blocks, ascending) and the hits from each on, in tokens if those are known."""
        tables = [self.facts.curve(ttl=ttl) for ttl in self.ttls]
        return [(t["capacity_blocks"], t["hit_tokens" if self.in_tokens else "hit_blocks"]) for t in tables]

    def answers(self, targets: Sequence[Fraction] = ()) -> list[list[Answer]]:
        """For each TTL one answer a target (default: the last round figure in reach and the first out of it)."""
        found = []
        for ttl, (capacities, hits) in zip(self.ttls, self.steps, strict=True):
            ceiling = int(hits[-1]) / self.total if len(hits) and self.total else 0.0
            found.append(answer(targets or usual_targets(ceiling), capacities, hits, self.total, ttl))
        return found

    def sentences(self, answers: Sequence[Sequence[Answer]]) -> list[str]:
        """The answers, one line a TTL, then what else must be known at once."""
        lines = [sentence(each, self.of, self.block_bytes, self.block_size) for each in answers if each]
        if not lines:
            lines.append(f"no {self.of.removesuffix('s')} is ever hit: no cache of any size helps")
        for ttl, (capacities, hits) in zip(self.ttls, self.steps, strict=True):
            if ttl is None and len(hits) and self.total:
                at = room(int(capacities[np.searchsorted(hits, hits[-1])]), self.block_bytes, self.block_size)
                lines.append(
                    f"more than {at} gives no more: {wording.share(int(hits[-1]) / self.total)} is the ceiling"
                )
        if not self.facts.exact:
            lines.append("lower bound: ids occur under several parents, so at finite capacities there may be more hits")
        return lines

    def ladder(self) -> list[int | None]:
        """Powers of two up to the first that reaches the ceiling, then infinite."""
        knee = max((int(c[np.searchsorted(h, h[-1])]) for c, h in self.steps if len(h)), default=1)
        unit = self.block_bytes or 1
        top = (knee * unit - 1).bit_length()
        powers = range(max(0, top - LADDER + 2), top + 1)
        return [*(max(1, 2**p // unit) for p in powers if 2**p >= unit), None]

    def report(
        self,
        capacities: Sequence[int | None] = (),
        targets: Sequence[Fraction] = (),
        by: str | None = None,
        window: float | None = None,
        whole: bool = False,
        picture: bool = False,
    ) -> Report:
        """Answers, the table, the definition."""
        answers = self.answers(targets)
        table = (
            self._whole()
            if whole
            else self.facts.points(list(capacities) or self.ladder(), self.ttls, block_bytes=self.block_bytes, by=by)
        )
        return Report(
            answers=self.sentences(answers),
            shown=self._shown(table),
            table=table,
            document={
                "trace": self.trace.summary(),
                "definition": hit_definition(self.trace, self.facts.exact, self.facts.method),
                "points": list(table.rows()),
                "answers": [a.as_dict(self.block_bytes) for each in answers for a in each],
                "block_bytes": self.block_bytes,
                "hitcurve": __version__,
            },
            footing=hit_lines(self.trace, self.facts.exact),
            picture=self.picture() if picture else "",
        )

    def picture(self, width: int = 64) -> str:
        """The first curve, drawn with characters."""
        capacities, hits = self.steps[0]
        if not len(hits) or not self.total:
            return ""
        low = self._starts(capacities, hits)
        high = float(capacities[-1]) * 1.3
        shown = capacities >= low
        x, y = capacities[shown], hits[shown] / self.total
        unit = self.block_bytes or 1
        ticks = [(2.0**p / unit, wording.size(2**p) if self.block_bytes else wording.short(2**p)) for p in range(70)]
        what = "GiB" if self.block_bytes else "blocks"
        drawn = terminal_plot([*x, high], [*y, y[-1]], [t for t in ticks if low <= t[0] <= high], width=width)
        return f"share of {self.of} that hit, by cache size{'' if self.block_bytes else f' in {what}'}\n{drawn}"

    def figure(self, targets: Sequence[Fraction] = (), title: str | None = None) -> Figure:
        """A matplotlib Figure of all TTLs, the answers marked."""
        from hitcurve.report.plots import Line, curve_figure

        lines = []
        for ttl, (capacities, hits), answers in zip(self.ttls, self.steps, self.answers(targets), strict=True):
            marks = [
                (a.capacity_blocks, f"{wording.share(a.target)}: {self._axis_size(a.capacity_blocks)}")
                for a in answers
                if a.capacity_blocks is not None
            ]
            if len(hits) and self.total:
                label = "no TTL" if ttl is None else f"TTL {wording.seconds(ttl)}"
                lines.append(Line(label, capacities, hits / self.total, marks))
        if not lines:
            raise UnsupportedTrace("no block is ever hit: there is no curve to draw")
        definition = self.trace.definition
        name = Path(definition.sources[0]).name if len(definition.sources) == 1 else definition.format
        return curve_figure(
            lines,
            counted=f"{'input ' if self.in_tokens else ''}{self.of}",
            title=title or f"Exact LRU hit curve of {name}",
            note=hit_lines(self.trace, self.facts.exact)[0],
            block_bytes=self.block_bytes,
            block_size=self.block_size,
        )

    def draw(self, path: str | os.PathLike[str], targets: Sequence[Fraction] = (), title: str | None = None) -> None:
        """Write the figure as png or svg."""
        from hitcurve.report.plots import save

        save(self.figure(targets, title), path)

    def _whole(self) -> Table:
        """All steps of all TTLs, in the columns of ``points``."""
        tables = [self.facts.curve(ttl=ttl) for ttl in self.ttls]
        return tables[0]

    def _shown(self, table: Table) -> Table:
        """The table for people."""
        return table

    def _axis_size(self, blocks: int) -> str:
        return wording.size(blocks * self.block_bytes) if self.block_bytes else f"{wording.count(blocks)} blocks"


def plot(
    source: Facts | Trace,
    *,
    ttls: Sequence[float | None] = (None,),
    targets: Sequence[float] = (),
    block_bytes: int | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Figure:
    """Draw the exact hit curve of facts (or of a trace) in one call; returns the matplotlib Figure.

    ``ttls`` seconds, None for no TTL; ``targets`` hit ratios to mark; ``block_bytes`` puts bytes on the x axis;
    ``path`` also writes a .png or .svg.  HitcurveError where matplotlib is not installed.
    """
    facts = source if isinstance(source, Facts) else lru_facts(source)
    curves = Curves(facts, ttls, block_bytes)
    wanted = [Fraction(str(t)) for t in targets]
    figure = curves.figure(wanted)
    if path is not None:
        curves.draw(path, wanted)
    return figure
