"""hitcurve formats"""

from __future__ import annotations

import click

from hitcurve.cli.output import Output, prints_results
from hitcurve.cli.reading import FormatName


@click.command()
@click.argument("name", required=False, type=FormatName())
@prints_results
def command(name: str | None, output: Output) -> None:
    """List the trace formats, or explain one.

    A format is recognised from the content of the file; --input-format names it. Everything a format assumes (block
    size, meaning of ids, tail rule, time unit) has an option to say otherwise.

    \b
    Example:
      hitcurve formats
      hitcurve formats mooncake
    """
    from hitcurve.report.formats import format_report, formats_report

    output.put(formats_report() if name is None else format_report(name))
