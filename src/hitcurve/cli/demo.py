"""hitcurve demo"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hitcurve.report.curve import Curves

from hitcurve.cli.verb import Verb
from hitcurve.errors import HitcurveError

BYTES_PER_TOKEN = 98_304  # 48 layers x 4 KV heads x 128 x (K and V) x 2 bytes: a 30B mixture of experts in bf16


@click.command(cls=Verb)
@click.option("--folder", type=click.Path(path_type=Path), default="hitcurve-demo", show_default=True,
              help="Where to put the trace and the plots.")  # fmt: skip
def command(folder: Path) -> None:
    """A curve, a table and a plot from the bundled trace.

    Needs no input. The trace and the plots are written into a folder, so that the next commands have something to read.

    \b
    Example:
      hitcurve demo
    """
    from hitcurve.cli.progress import compiling_shown

    click.get_current_context().with_resource(compiling_shown(None))

    from hitcurve.publish import made_folder

    with made_folder(folder):
        _write(folder)


def _write(folder: Path) -> None:
    from hitcurve.formats import write_trace

    curves = demo_curves()
    click.echo(curves.report(picture=True).to_text())
    write_trace(curves.trace, folder / "trace.parquet")
    written = ["trace.parquet"]
    try:
        for name in ("curve.svg", "curve.png"):
            curves.draw(folder / name)
            written.append(name)
    except HitcurveError as error:
        click.echo(f"hitcurve: no picture: {error}", err=True)
    click.echo(f"""
written to {folder}/: {", ".join(written)}

next:
  hitcurve check {folder}/trace.parquet
  hitcurve stats {folder}/trace.parquet
  hitcurve curve {folder}/trace.parquet --ttl 5m,1h,inf --bytes-per-token 96KiB --target 50%
  hitcurve curve your-trace.jsonl.zst --bytes-per-token 96KiB""")


def demo_curves() -> Curves:
    """The curves of the bundled trace."""
    from hitcurve.lru import lru_facts
    from hitcurve.report.curve import Curves
    from hitcurve.synth import demo_trace

    trace = demo_trace().with_definition(sources=("the bundled trace",))
    assert trace.definition.block_size is not None
    return Curves(lru_facts(trace), block_bytes=BYTES_PER_TOKEN * trace.definition.block_size)
