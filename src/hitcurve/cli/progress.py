"""Progress on standard error: rows and MB a second while reading, one line while numba compiles."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hitcurve.formats.opening import Progress
    from hitcurve.simulation import Settings


def wanted(asked: bool | None) -> bool:
    """Whether to show progress: as asked, else where standard error is a terminal."""
    return sys.stderr.isatty() if asked is None else asked


@contextmanager
def reading_shown(asked: bool | None) -> Iterator[Progress | None]:
    """A callable for ``read_trace(progress=...)``, or None where nobody is looking."""
    if not wanted(asked):
        yield None
        return
    from tqdm import tqdm

    bar = tqdm(unit="B", unit_scale=True, desc="reading", leave=False, file=sys.stderr, dynamic_ncols=True)
    started = time.monotonic()
    rows = 0

    def progress(rows_so_far: int, bytes_so_far: int, bytes_total: int | None) -> None:
        nonlocal rows
        rows, bar.total = rows_so_far, bytes_total
        bar.set_postfix_str(f"{rows_so_far:,} rows", refresh=False)
        bar.update(bytes_so_far - bar.n)

    try:
        yield progress
    finally:
        read = bar.n
        bar.close()
    seconds = max(time.monotonic() - started, 1e-9)
    click.echo(f"read {rows:,} rows in {seconds:.1f} s ({read / seconds / 1e6:,.0f} MB/s)", err=True)


@contextmanager
def simulating_shown(asked: bool | None, n_runs: int) -> Iterator[Callable[[Settings, int, int], None] | None]:
    """A callable for ``simulations(progress=...)``, or None where nobody is looking."""
    if not wanted(asked):
        yield None
        return
    from tqdm import tqdm

    with tqdm(unit=" requests", unit_scale=True, leave=False, file=sys.stderr, dynamic_ncols=True) as bar:
        run, of = 0, None

        def progress(settings: Settings, done: int, total: int) -> None:
            nonlocal run, of
            if settings is not of:
                run, of = run + 1, settings
                bar.reset(total)
            bar.set_description(f"{run}/{n_runs} {settings.policy}, {settings.capacity_blocks or 'unlimited'}", False)
            bar.update(done - bar.n)

        yield progress


@contextmanager
def compiling_shown(asked: bool | None) -> Iterator[None]:
    """Say once that machine code is being made, when it is: the first run of an installation."""
    if not wanted(asked):
        yield
        return
    from hitcurve._jit import compiling

    with compiling(lambda: click.echo("compiling for this machine (first run only) ...", err=True)):
        yield
