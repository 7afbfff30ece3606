"""The options that every verb that prints results has: ``--format`` and ``-o``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from hitcurve.errors import BadParameter, OutputError

if TYPE_CHECKING:
    from hitcurve.report.report import Report

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = [
    click.option("--format", type=click.Choice(["table", "json", "csv", "markdown"]),
                 help="How to print; by default a table, or what the ending of -o FILE says."),
    click.option("-o", "--output", metavar="FILE", type=click.Path(allow_dash=True),
                 help="Write to FILE (.txt .json .csv .md .parquet), whole or not at all."),
]  # fmt: skip


class Output:
    """Where results go, and in which form."""

    def __init__(self, format: str | None, path: str | None) -> None:
        self.format, self.path = format, None if path == "-" else path

    @property
    def form(self) -> str:
        """The format of a report; BadParameter where what was asked contradicts itself."""
        from hitcurve.report.report import ENDINGS, format_for

        return self.format or "table" if self.path is None else format_for(self.path, self.format, ENDINGS)

    def put(self, report: Report) -> None:
        """Print the report, or write it to the file that was named."""
        if self.path is not None:
            report.write(self.path, self.format)
        else:
            self.put_text(report.render(self.form))

    def put_text(self, text: str) -> None:
        """The same for text that has a form of its own."""
        with destination(self.path) as file:
            file.write(text.encode())


@contextmanager
def destination(path: str | None) -> Iterator[IO[bytes]]:
    """The file named, published when the block ends well; or standard output."""
    if path is not None and path != "-":
        from hitcurve.publish import published

        with published(path) as file:
            yield file
        return
    try:
        yield sys.stdout.buffer
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror}") from error


def check_apart(output: str | None, inputs: Iterable[str | os.PathLike[str]], what: str) -> None:
    """BadParameter where ``output`` is one of the files that are read (``what``): they would be lost."""
    if output in (None, "-") or not os.path.isfile(output):
        return
    if any(os.path.exists(each) and os.path.samefile(each, output) for each in inputs):
        raise BadParameter(f"{output}: is the {what} itself; name another file")


def prints_results(function: F) -> F:
    """Add the output options to a command, which gets them as one argument, ``output``."""

    @wraps(function)
    def command(*, format: str | None, output: str | None, **given: Any) -> Any:
        return function(output=Output(format, output), **given)

    wrapped: Any = command
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[no-any-return]
