"""Help of a verb: its own options first, those for reading the trace under a heading of their own."""

from __future__ import annotations

import click


class ReadingOption(click.Option):
    """An option that says how to read the trace."""


class Verb(click.Command):
    """A command whose help has two lists of options."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own: list[tuple[str, str]] = []
        reading: list[tuple[str, str]] = []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                (reading if isinstance(param, ReadingOption) else own).append(record)
        for heading, records in (("Options", own), ("Reading the trace", reading)):
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
