"""hitcurve simulate"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from hitcurve.cli.output import Output, prints_results
from hitcurve.cli.quantities import CAPACITY, FINITE, SIZE, bytes_a_block, listed
from hitcurve.cli.reading import Reading, pairs, reads_trace
from hitcurve.cli.verb import Verb
from hitcurve.errors import BadParameter

if TYPE_CHECKING:
    from hitcurve.policies.policy import Policy

GROUPS = ("session", "tenant", "request_type", "turn", "window")


class PolicyNames(click.ParamType):
    """Policies by name, completed in the shell; a path completes as a file."""

    name = "policies"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from hitcurve.policies import NAMES

        before, comma, last = incomplete.rpartition(",")
        names = [CompletionItem(before + comma + name) for name in NAMES if name.startswith(last)]
        return names or [CompletionItem(incomplete, type="file")]


@click.command(cls=Verb)
@click.option(
    "-p",
    "--policy",
    "policies",
    multiple=True,
    type=PolicyNames(),
    metavar="LIST",
    help="Policies by name (hitcurve policies lists them), or ./mine.py; repeat, or use commas. Default: lru.",
)
@click.option(
    "-c",
    "--capacity",
    "capacities",
    multiple=True,
    required=True,
    metavar="LIST",
    help="Cache sizes: 16384, 16k, 1m (blocks, powers of 1024), 24GiB, 80GB (bytes), inf; repeat, or use commas.",
)
@click.option("--block-bytes", type=SIZE, metavar="SIZE", help="Bytes of cache for one block: 1.5MiB.")
@click.option("--bytes-per-token", type=SIZE, metavar="SIZE", help="Bytes of cache for one token: 98304, 96KiB.")
@click.option(
    "--cost",
    default="uniform",
    show_default=True,
    metavar="MODEL",
    help="What computing a block costs: uniform, position, linear:A,B, table:FILE, qwen3coder30b_blksz_16 ...",
)
@click.option(
    "--table-extend",
    type=click.Choice(["last"]),
    help="Positions past the end of a cost table cost what its last line says.",
)
@click.option("--no-pin", is_flag=True, help="Let a request's own blocks be evicted while room is made for it.")
@click.option(
    "--replay-order",
    type=click.Choice(["deepest-first", "prefix"]),
    default="deepest-first",
    show_default=True,
    help="The order in which a request's blocks are accessed.",
)
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="POLICY.NAME=VALUE",
    callback=pairs,
    help="A policy's parameter: s3fifo.small=0.2 (hitcurve policies NAME lists them).",
)
@click.option(
    "--match",
    type=click.Choice(["gaps", "prefix"]),
    default="gaps",
    show_default=True,
    help="The hits that come first: gaps, of blocks wherever they stand; prefix, before the first missing one.",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="For policies that draw.")
@click.option("--by", type=click.Choice(GROUPS), help="Also one row a group of requests, for each policy and capacity.")
@click.option("--window", type=FINITE, metavar="TIME", help="Length of a time window for --by window: 10m, 1h.")
@click.option(
    "--holes",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, writable=True),
    help="Write every request's holes, a file for each run, in PrefixSim's form.",
)
@click.option("--result-lines", is_flag=True, help="Print PrefixSim's RESULT lines instead of a table.")
@click.option(
    "--kernel",
    type=click.Choice(["auto", "blocks", "ranges"]),
    default="auto",
    show_default=True,
    help="Block by block, or on ranges of blocks where the policy has that form; the same counts.",
)
@click.option(
    "--verify", is_flag=True, help="Check residency and the policy's own structures after every request; slow."
)
@reads_trace
@prints_results
@click.pass_context
def command(
    ctx: click.Context,
    reading: Reading,
    output: Output,
    policies: tuple[str, ...],
    capacities: tuple[str, ...],
    block_bytes: int | None,
    bytes_per_token: int | None,
    cost: str,
    table_extend: str | None,
    no_pin: bool,
    replay_order: str,
    params: dict[str, str],
    match: str,
    seed: int,
    by: str | None,
    window: float | None,
    folder: str | None,
    result_lines: bool,
    kernel: str,
    verify: bool,
) -> None:
    """Would another eviction policy do better, and what would it save?

    Serves the requests one by one from a cache of fixed size: look up all blocks, make room, access them. Reports block
    hits, the leading-prefix hits that an engine gets which stops at the first miss, and the compute saved.

    Exit status: 1 if a policy failed; the others have run.

    \b
    Example:
      hitcurve simulate trace.jsonl.zst --policy lru,s3fifo --capacity 16k,64k
      hitcurve simulate trace.jsonl.zst -p lru,gdsf_compute -c 16k --cost linear:865,2 --by session -o sessions.csv
      hitcurve simulate trace.jsonl.zst -p ./mine.py -c 24GiB --bytes-per-token 96KiB
    """  # fmt: skip
    sizes = listed(capacities, CAPACITY, "--capacity")
    names = [name.strip() for each in policies for name in each.split(",") if name.strip()]
    if policies and not names:
        raise BadParameter("--policy: wanted at least one name, found none")
    names = names or ["lru"]
    if (window is not None) != (by == "window"):
        raise BadParameter("--by window and --window TIME go together")
    if result_lines and (output.format or by):
        raise BadParameter("--result-lines has a form of its own: leave out --format and --by")

    from hitcurve.costs import cost_named
    from hitcurve.policies import policy_named
    from hitcurve.simulation import simulations
    from hitcurve.simulation.start import distributed

    typed: list[str] = []
    chosen: list[Policy] = []
    for name in names:
        policy = policy_named(name)
        if policy not in chosen:
            typed.append(name)
            chosen.append(policy)
    distributed(params, chosen)
    price = cost_named(cost, extend=table_extend)
    trace = reading.trace()

    from hitcurve.cli.progress import simulating_shown
    from hitcurve.report.simulation import SimulationReport

    block_bytes = bytes_a_block(sizes, block_bytes, bytes_per_token, trace.definition.block_size)
    blocks = [size.in_blocks(block_bytes) for size in sizes]
    if 0 in blocks:
        raise BadParameter(f"--capacity: {sizes[blocks.index(0)].bytes:,} bytes hold no block of {block_bytes:,}")
    blocks = list(dict.fromkeys(blocks))
    runs = [name for name in typed for _ in blocks]
    report = SimulationReport(trace, by, window, match)
    with simulating_shown(reading.progress, len(runs)) as progress:
        for name, outcome in zip(
            runs,
            simulations(
                trace, chosen, blocks, cost=price, pin=not no_pin, replay_order=replay_order, seed=seed, params=params,
                holes=folder is not None, verify=verify, kernel=kernel, match=match, progress=progress,
            ),
            strict=True,
        ):  # fmt: skip
            report.add(outcome, name, Path(folder) if folder else None)
    for warning in report.warnings():
        click.echo(f"hitcurve: {warning}", err=True)
    if result_lines:
        output.put_text("".join(line + "\n" for line in report.result_lines))
    else:
        output.put(report.report())
    ctx.exit(1 if report.failures else 0)
