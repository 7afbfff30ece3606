"""The options that every verb that reads a trace has, and reading with progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from hitcurve.cli.output import check_apart
from hitcurve.cli.quantities import FINITE
from hitcurve.cli.verb import ReadingOption
from hitcurve.errors import BadParameter

if TYPE_CHECKING:
    from hitcurve.trace import Trace

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Reading:
    """What the reading options said; ``trace()`` reads."""

    paths: tuple[str, ...]
    options: dict[str, Any]
    progress: bool | None
    after: float | None = None
    before: float | None = None
    reblock: int | None = None

    def trace(self, **overriding: Any) -> Trace:
        """The trace, read with progress on a terminal."""
        from hitcurve.cli.progress import compiling_shown, reading_shown
        from hitcurve.formats import read_trace

        source = self.paths[0] if len(self.paths) == 1 else list(self.paths)
        click.get_current_context().with_resource(compiling_shown(self.progress))
        with reading_shown(self.progress) as progress:
            return self._shaped(read_trace(source, **{**self.options, **overriding}, progress=progress))

    def _shaped(self, trace: Trace) -> Trace:
        """The requests and blocks that were asked for."""
        from hitcurve.trace.transforms import reblock, window

        if (self.after or self.before) and trace.n_requests:
            first = int(trace.arrival_ns[0])
            start, stop = (None if t is None else first + round(t * 1e9) for t in (self.after, self.before))
            trace = window(trace, start, stop)
            if not trace.n_requests:
                raise BadParameter("--after, --before: no request arrived in that stretch of time")
        return trace if self.reblock is None else reblock(trace, self.reblock)


class FormatName(click.ParamType):
    """A trace format by name, completed in the shell."""

    name = "format"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from hitcurve.formats import FORMATS

        return [CompletionItem(f.name, help=f.title) for f in FORMATS if f.name.startswith(incomplete)]


def pairs(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    for value in values:
        if "=" not in value:
            raise click.BadParameter(f"wanted NAME=VALUE, found {value!r}", ctx, param)
    return dict(value.split("=", 1) for value in values)


_PLAIN = ("block_size", "identity", "id_kind", "id_scope", "tail", "time_unit", "head", "skip_bad", "sort")
_KEYWORDS = {"input_format": "format", "field": "fields", **{name: name for name in _PLAIN}}  # option: for read_trace

TIME_UNITS = ("s", "ms", "us", "ns")


def reading_option(*names: str, **settings: Any) -> Callable[[F], F]:
    """A click option that help shows under a heading of its own."""
    return click.option(*names, cls=ReadingOption, **settings)


_OPTIONS = [
    click.argument("paths", metavar="TRACE...", nargs=-1, required=True, type=click.Path(allow_dash=True)),
    reading_option("--input-format", type=FormatName(), help="Format of the trace; if not named, recognised."),
    reading_option("--block-size", type=click.IntRange(1), help="Tokens in a full block."),
    reading_option("--identity", type=click.Choice(["prefix", "raw"]), help="A block is its path, or its id alone."),
    reading_option("--id-kind", type=click.Choice(["prefix", "block", "raw"]), help="What the ids in the file mean."),
    reading_option("--id-scope", type=click.Choice(["global", "file", "conversation"]), 
                   help="Where an id means the same."),
    reading_option("--tail", type=click.Choice(["keep", "drop"]), help="A partial last block: keep its id or drop it."),
    reading_option("--time-unit", type=click.Choice(TIME_UNITS), help="Unit of the times in the file."),
    reading_option("--head", type=click.IntRange(1), metavar="N", help="Read the first N requests only."),
    reading_option("--after", type=FINITE, metavar="TIME", help="Leave out the requests of the first 10m, 1h ..."),
    reading_option("--before", type=FINITE, metavar="TIME", help="Leave out all from so long after the first on."),
    reading_option("--reblock", type=click.IntRange(2), metavar="N", help="Blocks N times as large."),
    reading_option("--skip-bad", is_flag=True, help="Leave out bad rows, and say how many."),
    reading_option("--sort", is_flag=True, help="Put rows into time order."),
    reading_option("--field", multiple=True, metavar="NAME=KEY", callback=pairs,
                   help="The key of a column of generic JSONL."),
    reading_option("--read", "read_options", multiple=True, metavar="NAME=VALUE", callback=pairs,
                   help="An option of the format (hitcurve formats NAME lists them)."),
    reading_option("--progress/--no-progress", default=None, help="Rows and MB/s on standard error."),
]  # fmt: skip


def reads_trace(function: F) -> F:
    """Add the reading options to a command, which gets them as one argument, ``reading``."""

    @wraps(function)
    def command(*, paths: tuple[str, ...], progress: bool | None, **given: Any) -> Any:
        said = {name: given.pop(name) for name in _KEYWORDS}
        options = {_KEYWORDS[name]: value for name, value in said.items() if value not in (None, {})}
        options.update(given.pop("read_options"))
        if given.get("output"):
            from hitcurve.formats.opening import paths_of

            check_apart(given["output"], (path for path in paths_of(list(paths))[0] if path), "trace")
        shape = {name: given.pop(name) for name in ("after", "before", "reblock")}
        return function(reading=Reading(paths, options, progress, **shape), **given)

    wrapped: Any = command
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]
