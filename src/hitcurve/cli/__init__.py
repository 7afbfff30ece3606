"""The command line: one verb, one file; a verb's module is imported when the verb is called.

A verb's module holds one click command of the name ``command``.  A new verb is a file here and a line in ``VERBS``.
"""

from __future__ import annotations

from importlib import import_module

import click

from hitcurve._version import __version__

VERBS = {
    "curve": "How much cache do I need? Exact LRU hits at every capacity and TTL.",
    "simulate": "Would another eviction policy do better, and what would it save?",
    "policies": "List the eviction policies, or explain one.",
    "facts": "Write each request's hits at every capacity, as LiteHit does, to ask later.",
    "query": "How many blocks of published facts hit at these capacities?",
    "stats": "What is in a trace: sharing, reuse intervals, lifetimes, lengths.",
    "check": "A doctor for traces: what was assumed, and what looks wrong.",
    "convert": "Write a trace in another format; every curve stays the same.",
    "synth": "Generate a trace of multi-turn agent sessions from a seed.",
    "formats": "List the trace formats, or explain one.",
    "demo": "A curve, a table and a plot from the bundled trace.",
    "completion": "Print the lines that switch on completion in your shell.",
}


class Verbs(click.Group):
    """Lists verbs without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in VERBS:
            return None
        return import_module(f"{__name__}.{name}").command  # type: ignore[no-any-return]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            from hitcurve.errors import UnknownName

            raise UnknownName("command", args[0], VERBS, listing="hitcurve --help")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="hitcurve %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Exact LRU hit curves and eviction policy simulation for prefix (KV) caches.

    Data goes to standard output, progress to standard error (only if that is a terminal). Every TRACE may be a file, a
    folder, a pattern or - for standard input, as it is or compressed with gzip or zstd.

    \b
    Example:
      hitcurve curve trace.jsonl.zst --bytes-per-token 98304 --target 80%
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: list[str] | None = None) -> None:
    """Entry point of the ``hitcurve`` command; always ends in SystemExit."""
    from hitcurve.cli.ending import run

    raise SystemExit(run(group, args))
