"""hitcurve completion"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the lines that switch on completion in your shell.

    Completes commands, options, format names and files.

    \b
    Example:
      hitcurve completion bash >> ~/.bashrc
      hitcurve completion zsh >> ~/.zshrc
      hitcurve completion fish > ~/.config/fish/completions/hitcurve.fish
    """
    from hitcurve.cli import group

    kind = get_completion_class(shell)
    assert kind is not None
    completion = kind(group, {}, "hitcurve", "_HITCURVE_COMPLETE")
    click.echo(completion.source_template % completion.source_vars())
