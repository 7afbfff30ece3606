"""hitcurve check"""

from __future__ import annotations

import click

from hitcurve.cli.output import Output, prints_results
from hitcurve.cli.reading import Reading, reads_trace
from hitcurve.cli.verb import Verb


@click.command(cls=Verb)
@reads_trace
@prints_results
@click.pass_context
def command(ctx: click.Context, reading: Reading, output: Output) -> None:
    """A doctor for traces: what was assumed, and what looks wrong.

    Reads leniently (bad rows are counted and left out, rows out of order are sorted) and reports rows, lengths, block
    size, tail rule, order, time unit, meaning and scope of ids, sharing, and rows logged twice.

    Exit status: 0 nothing found, 1 findings, 2 not readable.

    \b
    Example:
      hitcurve check trace.jsonl.zst
    """
    trace = reading.trace(skip_bad=True, sort=True)

    from hitcurve.report.doctor import examination

    report, n_findings = examination(trace)
    output.put(report)
    ctx.exit(1 if n_findings else 0)
