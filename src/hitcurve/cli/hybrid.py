"""The options that say that a model is a hybrid one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from hitcurve.cli.quantities import SIZE
from hitcurve.errors import BadParameter

F = TypeVar("F", bound=Callable[..., Any])


def of_hybrid_models(function: F) -> F:
    """Add ``--linear-bytes`` and ``--linear-step`` to a command, which gets both or neither."""

    @click.option(
        "--linear-bytes", type=SIZE, metavar="SIZE", help="Bytes of one linear attention (Mamba) state: 25MiB."
    )
    @click.option(
        "--linear-step",
        type=click.IntRange(min=0),
        metavar="TOKENS",
        help="Tokens from one such state to the next that is kept; 0: one a block.",
    )
    @wraps(function)
    def command(*, linear_bytes: int | None, linear_step: int | None, **given: Any) -> Any:
        if (linear_bytes is None) != (linear_step is None):
            raise BadParameter("--linear-bytes and --linear-step go together")
        return function(linear_bytes=linear_bytes, linear_step=linear_step, **given)

    return command  # type: ignore[return-value]
