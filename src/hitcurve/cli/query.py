"""hitcurve query"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import click

from hitcurve.cli.output import check_apart, destination
from hitcurve.cli.quantities import DURATION, CapacityType, listed
from hitcurve.errors import BadParameter
from hitcurve.report.capacity import Capacity

if TYPE_CHECKING:
    from hitcurve.offline.capacities import Capacities
    from hitcurve.offline.query import Query

FORMATS = ("jsonl", "table", "csv", "parquet")
ENDINGS = {"txt": "table", "csv": "csv", "jsonl": "jsonl", "parquet": "parquet"}


class AnyCapacity(CapacityType):
    """A capacity that may be 0; and the text that it was asked with."""

    wanted = "blocks (0, 16384, 16k, 1m), bytes (24GiB, 80GB) or inf"

    def parse(self, text: str) -> Any:
        found = Capacity(blocks=0) if text.strip() == "0" else super().parse(text)
        return None if found is None else (text.strip(), found)


class Gigabytes(click.ParamType):
    name = "GB"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = float("nan")
        if number != number:
            self.fail(f"wanted times 2^30 bytes (0.5, 8), or a negative number for infinite, found {value!r}", param)
        return number


@click.command()
@click.argument("facts", metavar="FACTS", type=click.Path(allow_dash=True))
@click.option(
    "-c",
    "--capacity",
    "capacities",
    multiple=True,
    metavar="LIST",
    help="Cache sizes: 16384, 16k, 1m (blocks, powers of 1024), 24GiB, 80GB (bytes), inf, 0; repeat, or use commas.",
)
@click.option(
    "--capacity-gb",
    "gigabytes",
    multiple=True,
    metavar="LIST",
    help="Cache sizes as LiteHit takes them: times 2^30 bytes, negative for infinite.",
)
@click.option(
    "-t",
    "--ttl",
    type=DURATION,
    metavar="TIME",
    help="One lifetime for all instances, not their own: 300, 5m, 1h, inf (no TTL); Parquet facts only.",
)
@click.option("--summary-only", is_flag=True, help="Leave out the rows of requests.")
@click.option("--six-digits", is_flag=True, help="Round numbers as LiteHit prints them: 0.518519.")
@click.option(
    "--format", type=click.Choice(FORMATS), help="How to print; by default jsonl, or what the ending of -o FILE says."
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(allow_dash=True),
    help="Write to FILE (.jsonl .csv .parquet, .txt for a table), whole or not at all.",
)
def command(
    facts: str,
    capacities: tuple[str, ...],
    gigabytes: tuple[str, ...],
    ttl: float | None,
    summary_only: bool,
    six_digits: bool,
    format: str | None,
    output: str | None,
) -> None:
    """How many blocks of published facts hit at these capacities?

    FACTS is what hitcurve facts wrote, or LiteHit: litehit_facts.csv or the Parquet file, or - for standard input.
    Prints a line for each request, in the order of the facts, then sums: a line for each instance, by name, and one for
    all. Capacities keep the order in which they are given. Bytes become whole blocks by each row's own block_bytes.

    \b
    Example:
      hitcurve query litehit_facts.csv --capacity-gb 0.5,8,-1 -o answers.jsonl
      hitcurve query facts.parquet --capacity 16k,24GiB,inf --ttl 5m --format table
    """
    from hitcurve.report.report import format_for

    name = format_for(output or "-", format, ENDINGS, default="jsonl")
    if six_digits and name != "jsonl":
        raise BadParameter(f"--six-digits goes with --format jsonl, not with {name}")
    if bool(capacities) == bool(gigabytes):
        raise BadParameter("wanted --capacity or --capacity-gb, one of them")
    asked = (
        listed(capacities, AnyCapacity(), "--capacity", repeats=True),
        listed(gigabytes, Gigabytes(), "--capacity-gb", repeats=True),
    )

    from hitcurve.offline.facts_file import files_of, open_facts
    from hitcurve.offline.query import Query
    from hitcurve.projection import ttl_in_ns

    check_apart(output, files_of(facts), "facts file")
    with open_facts(facts) as opened, destination(output) as file:
        _put(
            Query(opened, _slots(*asked), None if ttl is None else ttl_in_ns(ttl)),
            file,
            name,
            not summary_only,
            six_digits,
        )


def _slots(sizes: list[tuple[str, Capacity]], gigabytes: list[float]) -> Capacities:
    from hitcurve.offline.capacities import Capacities, Slot

    if gigabytes:
        return Capacities.of_gb(gigabytes)
    return Capacities(tuple(Slot(text, size.blocks, size.bytes) for text, size in sizes))


def _put(query: Query, file: IO[bytes], format: str, requests: bool, six_digits: bool) -> None:
    if format == "jsonl":
        from hitcurve.offline.query_lines import query_lines

        for text in query_lines(query, requests, six_digits):
            file.write(text)
    elif format == "table":
        from hitcurve.report.facts_query import query_text

        for _ in query.answers():
            pass
        file.write(query_text(query).encode())
    else:
        from hitcurve.offline import query_files

        {"csv": query_files.write_csv, "parquet": query_files.write_parquet}[format](query, file, requests)
