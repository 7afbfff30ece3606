"""hitcurve stats"""

from __future__ import annotations

import click

from hitcurve.cli.output import Output, prints_results
from hitcurve.cli.reading import Reading, reads_trace
from hitcurve.cli.verb import Verb


@click.command(cls=Verb)
@reads_trace
@prints_results
def command(reading: Reading, output: Output) -> None:
    """What is in a trace: sharing, reuse intervals, lifetimes, lengths.

    \b
    Example:
      hitcurve stats trace.jsonl.zst --format json
    """
    trace = reading.trace()

    from hitcurve.report.statistics import statistics_report

    output.put(statistics_report(trace))
