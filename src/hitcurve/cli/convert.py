"""hitcurve convert"""

from __future__ import annotations

import click

from hitcurve.cli.reading import FormatName, Reading, pairs, reads_trace
from hitcurve.cli.verb import Verb


@click.command(cls=Verb)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(),
    help="File to write, whole or not at all; .gz and .zst compress.",
)
@click.option("--to", type=FormatName(), help="Format to write; by default what the ending of FILE says.")
@click.option("--write", "write_options", multiple=True, metavar="NAME=VALUE", callback=pairs,
              help="An option of the format (hitcurve formats NAME lists them).")  # fmt: skip
@reads_trace
def command(reading: Reading, output: str, to: str | None, write_options: dict[str, str]) -> None:
    """Write a trace in another format; every curve stays the same.

    The parquet form is ours: one row a request, spans as a list column, readable by pandas, polars and DuckDB as it is,
    and the fastest to read again.

    \b
    Example:
      hitcurve convert trace.jsonl.zst -o trace.parquet
      hitcurve convert trace.parquet --to mooncake -o trace.jsonl.gz
    """
    trace = reading.trace()

    from hitcurve.formats import write_trace

    write_trace(trace, output, format=to, **write_options)
    for note in trace.definition.notes:
        click.echo(f"hitcurve: note: {note}", err=True)
    click.echo(f"wrote {trace.n_requests:,} requests to {output}", err=True)
