"""The report of ``hitcurve simulate``: results in, answers and tables out.

A result is reduced to its sums as soon as it is there, so that a grid of runs over a long trace fits in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitcurve._version import __version__
from hitcurve.report.definition import trace_lines
from hitcurve.report.report import Report
from hitcurve.simulation import Failure, Result, result_line, write_holes
from hitcurve.simulation.result import MATCHES, matches
from hitcurve.table import Table
from hitcurve.trace import Trace
from hitcurve.trace.grouping import groups
from hitcurve.wording import count, share

MEASURES = {
    "hit": "a position whose block is resident when its request arrives; matching does not stop at a miss",
    "prefix_hit": "a hit before the request's first missing block: what an engine gets that stops at the first miss",
    "compute_saving_ratio": "cost of hit positions / cost of all positions of served requests",
    "prefix_compute_saving_ratio": "cost of prefix hits / cost of all positions of served requests",
    "hole": "a maximal stretch of missing positions of one request",
    "n_blocks": "positions of served requests; a request with more distinct blocks than the capacity is left out",
    "hit_tokens": "hit full blocks x block size; partial last blocks in tail_hit_tokens",
    "self_eviction": "a victim that the arriving request itself holds",
    "warm_up": "none: every request counts",
}
COUNTED = {
    "gaps": "hits behind a gap too (prefix hits: before the first gap)",
    "prefix": "hits before the first gap first (block hits: behind it too), and what they save",
}
BOUNDS = ("belady", "leaf_belady")  # their block hits bound everybody's leading-prefix hits: docs/bounds.md


class SimulationReport:
    """Collects outcomes; ``by`` and ``window`` as for ``Result.by``.  ``match``: which hits come first."""

    def __init__(self, trace: Trace, by: str | None = None, window: float | None = None, match: str = "gaps") -> None:
        self.trace, self.by, self.window, self.match = trace, by, window, match
        self.rows: list[dict[str, Any]] = []
        self.groups: list[dict[str, Any]] = []
        self.result_lines: list[str] = []
        self.failures: list[str] = []
        if by is not None:
            groups(trace, by, window)  # fails before the first run, where it cannot be done

    def add(self, outcome: Result | Failure, typed: str, holes: Path | None = None) -> None:
        """Take in one run; ``typed``: its policy as the user wrote it; ``holes``: folder for its file of holes."""
        self.rows.append(outcome.as_dict())
        if isinstance(outcome, Failure):
            self.failures.append(outcome.error)
            return
        self.result_lines.append(result_line(outcome, policy=typed))
        if holes is not None:
            write_holes(outcome, holes)
        if self.by is not None:
            s = outcome.settings
            run = {"policy": s.policy, "capacity_blocks": s.capacity_blocks}
            self.groups.extend({**run, **row} for row in outcome.by(self.by, self.window).rows())

    def warnings(self) -> list[str]:
        """What standard error should say, each once."""
        notes = [f"warning: {note}" for row in self.rows for note in row.get("notes", ())]
        return list(dict.fromkeys([*notes, *(f"error: {failure}" for failure in self.failures)]))

    def report(self) -> Report:
        """Answers, the table, what was counted."""
        document = {
            "trace": self.trace.summary(),
            "definition": MEASURES,
            "results": self.rows,
            **({} if self.by is None else {"by": {"column": self.by, "rows": self.groups}}),
            "hitcurve": __version__,
        }
        return Report(
            answers=self._answers(),
            shown=self._shown_groups() if self.by else self._shown(),
            table=self._grouped() if self.by else self._flat(),
            document=document,
            footing=[*self._counted(), *trace_lines(self.trace)],
        )

    def _done(self) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["error"] is None]

    def _answers(self) -> list[str]:
        """For each capacity, who hits most; and who saves most, where blocks cost differently."""
        lines = []
        saving = MATCHES[self.match].saving
        for capacity in dict.fromkeys(row["capacity_blocks"] for row in self._done()):
            here = [row for row in self._done() if row["capacity_blocks"] == capacity]
            measures = {match.ratio: match.words for match in matches(self.match)}
            if here[0]["cost"] != "uniform":
                measures[saving] = "compute saved"
            said = []
            for measure, words in measures.items():
                best = max(here, key=lambda row: row[measure])
                leader = f" ({best['policy']})" if len(here) > 1 else ""
                shape = f" with {best['holes_per_request']:.2f} holes a request" if measure == saving else ""
                said.append(f"{share(best[measure])} {words}{leader}{shape}")
            who = f"best of {len(here)} at" if len(here) > 1 else f"{here[0]['policy']} at"
            lines.append(f"{who} {_room(capacity)}: {', '.join(said)}")
        return [*lines, *self._bounds(), *(f"failed: {failure}" for failure in self.failures)]

    def _bounds(self) -> list[str]:
        """What no policy exceeds, where the run that finds it is among those asked for."""
        if not self.trace.contract:
            return []
        best = {row["capacity_blocks"]: row for row in self._done() if row["policy"] in BOUNDS}
        return [
            f"no policy has more than {share(row['block_hit_ratio'])} leading-prefix hits at {_room(capacity)} "
            f"({row['policy']})"
            for capacity, row in best.items()
        ]

    def _shown(self) -> Table:
        headline = MATCHES[self.match]
        asked = list(dict.fromkeys(row["capacity_blocks"] for row in self.rows))
        rows = sorted(self._done(), key=lambda row: (asked.index(row["capacity_blocks"]), -row[headline.ratio]))
        columns = {
            "policy": [row["policy"] for row in rows],
            "capacity": [_room(row["capacity_blocks"]) for row in rows],
            **{match.short: [share(row[match.ratio]) for row in rows] for match in matches(self.match)},
            "compute saved": [share(row[headline.saving]) for row in rows],
            "holes/request": [f"{row['holes_per_request']:.2f}" for row in rows],
            "evictions": [count(row["n_eviction"]) for row in rows],
            "self-evictions": [count(row["n_self_eviction"]) for row in rows],
            "beyond need": [count(row["n_overshoot"]) for row in rows],
            "released": [count(row["n_released"]) for row in rows],
            "requests skipped": [count(row["n_req_skipped"]) for row in rows],
        }
        rare = ("self-evictions", "beyond need", "released", "requests skipped")
        return Table({name: cells for name, cells in columns.items() if name not in rare or set(cells) - {"0"}})

    def _flat(self) -> Table:
        names = dict.fromkeys(name for row in self.rows for name in row)
        return Table({name: [_flat(row.get(name)) for row in self.rows] for name in names}, self._provenance())

    def _grouped(self) -> Table:
        names = dict.fromkeys(name for row in self.groups for name in row)
        return Table({name: [row.get(name) for row in self.groups] for name in names}, self._provenance())

    def _shown_groups(self) -> Table:
        rows = self.groups
        column = next((name for name in rows[0] if name not in ("policy", "capacity_blocks")), "") if rows else ""
        return Table(
            {
                "policy": [row["policy"] for row in rows],
                "capacity": [_room(row["capacity_blocks"]) for row in rows],
                column.replace("_", " "): ["(none)" if row[column] is None else row[column] for row in rows],
                "requests": [count(row["n_req"]) for row in rows],
                "blocks": [count(row["n_blocks"]) for row in rows],
                **{match.short: [share(row[match.ratio]) for row in rows] for match in matches(self.match)},
                "compute saved": [share(row[MATCHES[self.match].saving]) for row in rows],
                "holes/request": [f"{row['holes_per_request']:.2f}" for row in rows],
            }
        )

    def _provenance(self) -> dict[str, Any]:
        return {"hitcurve": __version__, "trace": self.trace.summary(), "definition": MEASURES}

    def _counted(self) -> list[str]:
        first = next(iter(self.rows), None)
        if first is None:
            return []
        pins = "blocks of the arriving request are pinned" if first["pin"] else "no pins"
        return [
            f"counted: all positions of served requests; {COUNTED[self.match]}; no warm-up",
            f"replay: {first['replay_order']}, {pins}; cost {first['cost']}; seed {first['seed']}",
        ]


def _room(capacity: int | None) -> str:
    return "any size" if capacity is None else f"{count(capacity)} blocks"


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        return ",".join(f"{name}={part}" for name, part in value.items())
    return "; ".join(value) if isinstance(value, list) else value
