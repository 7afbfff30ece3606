"""hitcurve facts"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hitcurve.cli.hybrid import of_hybrid_models
from hitcurve.cli.quantities import DURATION, SIZE, listed
from hitcurve.cli.reading import Reading, reads_trace
from hitcurve.cli.verb import Verb
from hitcurve.errors import BadConfig, BadParameter, HitcurveError, TraceError
from hitcurve.wording import counted

if TYPE_CHECKING:
    from hitcurve.formats.opening import Progress
    from hitcurve.offline.config import Config
    from hitcurve.offline.instances import Instance
    from hitcurve.offline.run import Written


@click.command(cls=Verb)
@click.option("-o", "--output", metavar="DIR", type=click.Path(), help="Folder for the facts of a TRACE.")
@click.option("--block-bytes", type=SIZE, metavar="SIZE", help="Bytes of cache for a block of all its tokens.")
@click.option("--bytes-per-token", type=SIZE, metavar="SIZE", help="The same, told for one token.")
@click.option(
    "--cache-block-size",
    "sizes",
    multiple=True,
    metavar="LIST",
    help="Tokens in a block of the cache, a multiple of those in the trace; by default the same.",
)
@click.option(
    "-t",
    "--ttl",
    "ttls",
    multiple=True,
    metavar="LIST",
    help="Lifetimes of blocks: 300, 5m, 1h, inf (no TTL; the default).",
)
@click.option("--prefix-hash", is_flag=True, help="Keys name single blocks: chain them first, as LiteHit does.")
@of_hybrid_models
@click.option("--override-instance-id", "override", metavar="NAME", help="All requests share one cache of that name.")
@click.option("--workers", type=click.IntRange(1), help="More than 1 (default 2): read, follow and write at once.")
@reads_trace
def command(reading: Reading, output: str | None, workers: int | None, **given: Any) -> None:
    """Write each request's hits at every capacity, as LiteHit does, to ask later.

    CONFIG is a configuration of LiteHit's offline runner, used as it is. Or name a TRACE in any format, and a folder
    for the facts: each instance (tenant) then has a cache of its own. Where several block sizes or lifetimes are given,
    every request goes to one cache for each combination instead.

    Writes litehit_facts.csv, byte for byte as LiteHit does, and litehit_facts.parquet, which also answers any other
    lifetime: both of them, or, where anything is wrong, none. hitcurve query asks them.

    \b
    Example:
      hitcurve facts offline.json
      hitcurve facts trace.jsonl.zst -o facts/ --bytes-per-token 98304 --ttl 5m,1h,inf
    """
    from hitcurve.cli.progress import compiling_shown, reading_shown
    from hitcurve.publish import made_folder

    click.get_current_context().with_resource(compiling_shown(reading.progress))
    if output is None:
        config = _config(reading, given)
        for warning in config.warnings:
            click.echo(f"hitcurve: warning: {reading.paths[0]}: {warning}", err=True)
        with reading_shown(reading.progress) as progress:
            _tell(_run(config, workers, progress))
    else:
        with reading_shown(reading.progress) as progress, made_folder(output):
            _tell(_of_trace(reading, output, workers or 2, progress, **given))


def _config(reading: Reading, given: dict[str, Any]) -> Config:
    if len(reading.paths) > 1:
        raise BadParameter("wanted one CONFIG, or -o DIR for the facts of a TRACE")
    asked = [*reading.options.values(), reading.after, reading.before, reading.reblock, *given.values()]
    if any(value not in (None, (), False) for value in asked):
        raise BadParameter("without -o DIR wanted a CONFIG and no more than --workers: it says all the rest itself")

    from hitcurve.offline.config import read_config

    path = reading.paths[0]
    if path == "-":
        raise BadParameter("-: a CONFIG is a file; a TRACE may be standard input, and its facts need -o DIR")
    try:
        return read_config(path)
    except (TraceError, BadConfig):
        if _is_trace(path):
            raise BadParameter(f"{path}: is a trace, not a CONFIG: its facts need -o DIR") from None
        raise


def _is_trace(path: str) -> bool:
    from hitcurve.formats import FORMATS
    from hitcurve.formats.opening import Opened, paths_of
    from hitcurve.formats.recognising import recognised

    try:
        file = Opened(paths_of(path)[0][0])
        try:
            recognised(file, FORMATS)
        finally:
            file.close()
    except HitcurveError:
        return False
    return True


def _is_config(path: str) -> bool:
    from hitcurve.offline.fields import read_object

    try:
        return "instance_groups" in read_object(Path(path))
    except HitcurveError:
        return False


def _run(config: Config, workers: int | None, progress: Progress | None) -> Written:
    from hitcurve.offline.run import run_config

    return run_config(replace(config, pipeline_worker_count=workers) if workers else config, progress)


def _of_trace(
    reading: Reading, output: str, workers: int, progress: Progress | None, override: str | None, **given: Any
) -> Written:
    from hitcurve.offline.routing import Routing
    from hitcurve.offline.rows import rows_of, rows_of_trace
    from hitcurve.offline.run import publish_facts

    if reading.after or reading.before or reading.reblock:
        rows = rows_of_trace(reading.trace())
    else:
        options = dict(reading.options)
        try:
            rows = rows_of(list(reading.paths), options.pop("block_size", None), progress, options)
        except TraceError:
            if _is_config(reading.paths[0]):
                raise BadParameter(
                    f"{reading.paths[0]}: is a CONFIG, which names its own folder: leave out -o"
                ) from None
            raise
    with closing(rows):
        instances = list(_instances(rows.block_size, **given))
        if len(instances) > 1 and override:
            raise BadParameter("--override-instance-id goes with one block size and one lifetime")
        if len(instances) > 1:
            routing = Routing(instances, rows.block_size, fanout=True)
        elif override:
            routing = Routing([replace(instances[0], instance_id=override)], rows.block_size, override)
        else:
            routing = Routing([], rows.block_size, template=instances[0])
        return publish_facts(rows, routing, output, workers)


def _instances(
    trace_block_size: int,
    block_bytes: int | None,
    bytes_per_token: int | None,
    sizes: tuple[str, ...],
    ttls: tuple[str, ...],
    prefix_hash: bool,
    linear_bytes: int | None,
    linear_step: int | None,
) -> Iterator[Instance]:
    """One for each block size and lifetime, named after what differs."""
    from hitcurve.offline.instances import Instance
    from hitcurve.projection import ttl_in_ns

    if bool(block_bytes) == bool(bytes_per_token):
        raise BadParameter(
            "wanted --block-bytes or --bytes-per-token, one of them: each fact holds the bytes of its blocks"
        )
    block_sizes = listed(sizes, click.IntRange(1), "--cache-block-size") or [trace_block_size]
    lifetimes = listed(ttls, DURATION, "--ttl") or [float("inf")]
    if len(block_sizes) > 1 and block_bytes:
        raise BadParameter("--block-bytes tells one block size; with several give --bytes-per-token")
    for size, ttl in product(block_sizes, lifetimes):
        if linear_step and linear_step % size:
            raise BadParameter(f"--linear-step: wanted a multiple of the block size {size}, found {linear_step}")
        endless = ttl == float("inf")
        names = [f"block{size}"] * (len(block_sizes) > 1) + ["no-ttl" if endless else f"ttl{ttl:g}s"] * (
            len(lifetimes) > 1
        )
        yield Instance(
            "-".join(names),
            size,
            block_bytes or (bytes_per_token or 0) * size,
            ttl_ns=None if endless else ttl_in_ns(ttl),
            prefix_hash=prefix_hash,
            linear_bytes=linear_bytes or 0,
            step_blocks=0 if linear_step is None else linear_step // size or 1,
        )


def _tell(written: Written) -> None:
    for note in written.notes:
        click.echo(f"hitcurve: note: {note}", err=True)
    n, of = sum(written.requests.values()), len(written.requests)
    click.echo(f"wrote {counted(n, 'fact')} of {counted(of, 'instance')} to {written.folder}", err=True)


next(each for each in command.params if each.name == "paths").metavar = "CONFIG | TRACE..."
