"""hitcurve curve"""

from __future__ import annotations

from fractions import Fraction

import click

from hitcurve.cli.hybrid import of_hybrid_models
from hitcurve.cli.output import Output, prints_results
from hitcurve.cli.quantities import CAPACITY, DURATION, FINITE, SHARE, SIZE, listed
from hitcurve.cli.reading import Reading, reads_trace
from hitcurve.cli.verb import Verb
from hitcurve.errors import BadParameter

GROUPS = ("session", "tenant", "request_type", "turn", "window")


@click.command(cls=Verb)
@click.option(
    "-c",
    "--capacity",
    "capacities",
    multiple=True,
    metavar="LIST",
    help="Cache sizes: 16384, 16k, 1m (blocks, powers of 1024), 24GiB, 80GB (bytes), inf; repeat, or use commas.",
)
@click.option("-t", "--ttl", "ttls", multiple=True, metavar="LIST", help="Lifetimes: 300, 5m, 1h, inf (no TTL).")
@click.option(
    "--target", "targets", multiple=True, metavar="LIST", help="Hit shares to find the cache size for: 80%, 0.9."
)
@click.option(
    "--of-ceiling",
    "ceiling_shares",
    multiple=True,
    metavar="LIST",
    help="Shares of an infinite cache's hits to find the cache size for: 80%, 99.5%; usual: 60 to 99.5 %.",
)
@click.option("--block-bytes", type=SIZE, metavar="SIZE", help="Bytes of cache for one block: 1.5MiB.")
@click.option("--bytes-per-token", type=SIZE, metavar="SIZE", help="Bytes of cache for one token: 98304, 96KiB.")
@of_hybrid_models
@click.option("--by", type=click.Choice(GROUPS), help="One row a group, and for each capacity and TTL.")
@click.option("--window", type=FINITE, metavar="TIME", help="Length of a time window for --by window: 10m, 1h.")
@click.option("--whole", is_flag=True, help="Every step of the curve instead of chosen capacities.")
@click.option("--plot", "plots", multiple=True, metavar="FILE", help="Draw it: .svg, .png, or - for the terminal.")
@reads_trace
@prints_results
def command(
    reading: Reading,
    output: Output,
    capacities: tuple[str, ...],
    ttls: tuple[str, ...],
    targets: tuple[str, ...],
    ceiling_shares: tuple[str, ...],
    block_bytes: int | None,
    bytes_per_token: int | None,
    linear_bytes: int | None,
    linear_step: int | None,
    by: str | None,
    window: float | None,
    whole: bool,
    plots: tuple[str, ...],
) -> None:
    """How much cache do I need? Exact LRU hits at every capacity and TTL.

    One replay answers for all capacities and TTLs. Without --capacity the table is a ladder up to where more cache
    gives no more hits; without --target the answer is the last round figure in reach and the first out of reach.
    With --of-ceiling the table says how much cache reaches a share of what an infinite cache hits, of all requests or
    (--by window --window 1h) of each group.
    With --linear-bytes and --linear-step the model is a hybrid: a request goes on from the last state that is cached.

    \b
    Example:
      hitcurve curve trace.jsonl.zst --bytes-per-token 96KiB --target 80%,90%
      hitcurve curve trace.jsonl.zst -c 16k,64k,inf --ttl 5m,1h,inf --format json
      hitcurve curve trace.jsonl.zst --whole -o curve.parquet --plot curve.svg
      hitcurve curve trace.jsonl.zst --of-ceiling 80%,99% --by window --window 1h
      hitcurve curve trace.jsonl.zst --bytes-per-token 24KiB --linear-bytes 25MiB --linear-step 512
    """
    sizes = listed(capacities, CAPACITY, "--capacity")
    lifetimes = [None if ttl == float("inf") else ttl for ttl in listed(ttls, DURATION, "--ttl")] or [None]
    shares = listed(targets, SHARE, "--target")
    if block_bytes and bytes_per_token:
        raise BadParameter("--block-bytes and --bytes-per-token say the same: give one of them")
    if (window is not None) != (by == "window"):
        raise BadParameter("--by window and --window TIME go together")
    if whole and (by or capacities):
        raise BadParameter("--whole is the curve at every capacity, of all requests: leave out --capacity and --by")
    if ceiling_shares and (whole or capacities or targets or plots):
        raise BadParameter("--of-ceiling is a table of its own: leave out --capacity, --target, --whole and --plot")
    if linear_bytes is not None and not (block_bytes or bytes_per_token):
        raise BadParameter("--linear-bytes needs --block-bytes or --bytes-per-token of the full attention layers")
    if linear_bytes is not None and ceiling_shares:
        raise BadParameter("--of-ceiling counts blocks of full attention: leave out --linear-bytes")
    if "-" in plots and output.form not in ("table", "markdown"):
        raise BadParameter(f"--plot - draws with characters: it goes with a table or markdown, not with {output.form}")
    of_ceiling = _ceiling_shares(ceiling_shares)
    trace = reading.trace()
    if bytes_per_token:
        if trace.definition.block_size is None:
            raise BadParameter("--bytes-per-token needs the block size (--block-size N), or give --block-bytes")
        block_bytes = bytes_per_token * trace.definition.block_size

    from hitcurve.lru import hybrid_facts, lru_facts
    from hitcurve.report.curve import Curves
    from hitcurve.report.hybrid_curve import HybridCurves

    groups = ("window", window) if window is not None else by
    if of_ceiling:
        from hitcurve.report.ceiling import ceiling_report

        output.put(ceiling_report(lru_facts(trace), of_ceiling, lifetimes, block_bytes, groups))
        return
    if linear_bytes is not None and block_bytes is not None:
        facts = hybrid_facts(trace, full_bytes=block_bytes, linear_bytes=linear_bytes, linear_step_tokens=linear_step)
        curves: Curves = HybridCurves(facts, lifetimes)
    else:
        curves = Curves(lru_facts(trace), lifetimes, block_bytes)
    pictures = [path for path in plots if path != "-"]
    for path in pictures:
        curves.draw(path, shares)
    output.put(
        curves.report(
            sizes,
            shares,
            by=groups,
            whole=whole,
            picture=len(pictures) < len(plots),
        )
    )


def _ceiling_shares(values: tuple[str, ...]) -> list[Fraction]:
    if [value.strip() for value in values] == ["usual"]:
        from hitcurve.lru.ceiling import SHARES

        return list(SHARES)
    return listed(values, SHARE, "--of-ceiling")
