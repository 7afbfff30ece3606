"""The report of ``hitcurve stats``."""

from __future__ import annotations

from typing import Any

from hitcurve._version import __version__
from hitcurve.report.definition import trace_lines
from hitcurve.report.report import Report
from hitcurve.statistics import trace_statistics
from hitcurve.table import Table
from hitcurve.trace import Trace
from hitcurve.wording import count, counted, share

NAMES = ("quantity", "unit")


def statistics_report(trace: Trace) -> Report:
    """A sentence, how quantities are spread, and the counts.  The csv has one row a quantity and statistic."""
    counts, spread = trace_statistics(trace)
    totals = {row["quantity"]: row["value"] for row in counts.rows()}
    shown = {name: [_number(v) if name not in NAMES else v for v in spread[name]] for name in spread.columns}
    listed = Table({"quantity": list(totals), "value": [_total(name, value) for name, value in totals.items()]})
    rows = [("total", name, "", value) for name, value in totals.items()]
    for row in spread.rows():
        rows += [(name, row["quantity"], row["unit"], row[name]) for name in row if name not in NAMES]
    statistic, quantity, unit, value = zip(*rows, strict=True)
    return Report(
        answers=[_sentence(trace, totals)],
        shown=Table(shown),
        table=Table(
            {"quantity": list(quantity), "unit": list(unit), "statistic": list(statistic), "value": list(value)},
            counts.provenance,
        ),
        document={
            "trace": trace.summary(),
            "counts": totals,
            "spread": list(spread.rows()),
            "hitcurve": __version__,
        },
        footing=["percentiles are values that occur (nearest rank)", *trace_lines(trace)],
        picture=listed.to_text("plain", ["value"]),
        names=len(NAMES),
    )


def _sentence(trace: Trace, totals: dict[str, Any]) -> str:
    sessions = f" in {counted(totals['sessions'], 'session')}" if "sessions" in totals else ""
    again = share(totals["share of references to blocks seen before"])
    return f"{counted(trace.n_requests, 'request')}{sessions}; {again} of block references go to blocks seen before"


def _total(name: str, value: float) -> str:
    return share(value) if name.startswith("share") else _number(value)


def _number(value: float) -> str:
    if isinstance(value, int):
        return count(value)
    return f"{value:,.0f}" if value >= 1000 else f"{value:,.1f}" if value >= 10 else f"{value:.3g}"
