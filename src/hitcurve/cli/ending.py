"""How a command ends: its exit status, and at most one line of error (of a configuration, one for each rule it breaks).

0     done
1     done, and ``check`` found something
2     an error that names its cause; nothing half-written is left
70    a bug in hitcurve; HITCURVE_DEBUG=1 shows the traceback
130   interrupted (Ctrl-C), 143 terminated; 141 nobody reads our output any more (``| head``), said by no word
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import click

from hitcurve.errors import BadConfig, HitcurveError


def run(group: click.Command, args: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    signal.signal(signal.SIGTERM, _terminated)
    more: list[str] = []
    try:
        status = _run(group, sys.argv[1:] if args is None else args)
        sys.stdout.flush()
        return status
    except BadConfig as error:
        status = 2
        message, *more = [f"error: {error.path}: {problem}" for problem in error.problems]
    except (HitcurveError, click.ClickException, OSError, MemoryError, KeyboardInterrupt) as error:
        status, message = _known(error)
    except Exception as error:
        if os.environ.get("HITCURVE_DEBUG"):
            raise
        status = 70
        message = f"internal error: {type(error).__name__}: {error} (HITCURVE_DEBUG=1 shows where; please report it)"
    for line in filter(None, [message, *more]):
        click.echo(f"hitcurve: {' '.join(line.split())}", err=True)
    _drop_output()
    return status


def _run(group: click.Command, args: list[str]) -> int:
    """What ``click.Command.main`` does, but every exception comes through, a broken pipe's too."""
    if asked := os.environ.get("_HITCURVE_COMPLETE"):
        from click.shell_completion import shell_complete

        return shell_complete(group, {}, "hitcurve", "_HITCURVE_COMPLETE", asked)
    try:
        with group.make_context("hitcurve", list(args)) as ctx:
            group.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code
    return 0


def _known(error: BaseException) -> tuple[int, str]:
    """Exit status and message (empty for none) of an error that can happen without a bug."""
    if isinstance(error, KeyboardInterrupt):
        return 130, "interrupted"
    if isinstance(error, BrokenPipeError):
        return 141, ""
    if isinstance(error, click.ClickException):
        usage = getattr(error, "ctx", None)
        hint = f" (hitcurve {usage.info_name} --help)" if usage and usage.parent else ""
        return 2, f"error: {error.format_message()}{hint}"
    if isinstance(error, MemoryError):
        return 2, "error: out of memory; --head N reads the first N requests only"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return 2, f"error: {where}{error.strerror or error}"
    return 2, f"error: {error}"


def _drop_output() -> None:
    """Let what standard output still holds go nowhere, so that the interpreter does not try, and complain, again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _terminated(number: int, frame: Any) -> None:
    raise SystemExit(128 + number)  # through every ``finally``: no temporary file stays
