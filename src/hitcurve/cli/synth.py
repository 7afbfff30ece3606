"""hitcurve synth"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from hitcurve.cli.reading import FormatName
from hitcurve.cli.verb import Verb

# The fields of synth.Workload, whose module is too heavy for --help; a test compares the two.
WORKLOAD: dict[str, tuple[int | float, str]] = {
    "sessions": (150, "Conversations started by users."),
    "hours": (3.0, "Time in which they start."),
    "tenants": (3, "Customers; they share nothing."),
    "agents": (2, "Agents of a tenant, each with a system prompt of its own."),
    "projects": (5, "Projects of a tenant."),
    "turns": (2.0, "Messages of the user in a session."),
    "steps": (2.0, "Requests that a message leads to."),
    "system_tokens": (10_000, "System prompt and tools."),
    "project_tokens": (8_000, "What every prompt about a project holds."),
    "opening_tokens": (16_000, "First message of a session."),
    "message_tokens": (250, "Every other message."),
    "result_tokens": (1_500, "A tool's result."),
    "answer_tokens": (300, "An answer."),
    "think_seconds": (900.0, "Between an answer and the next message."),
    "tool_seconds": (4.0, "A tool's work."),
    "subagent_share": (0.1, "Share of tool calls that start a sub-agent."),
    "context_tokens": (160_000, "Longest prompt; longer ones are compacted."),
    "block_size": (64, "Tokens in a block."),
}


def workload_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each field."""
    for name, (default, text) in reversed(WORKLOAD.items()):
        option = "--" + name.replace("_", "-")
        kind = type(default)
        function = click.option(option, name, type=kind, default=default, show_default=True, help=text)(function)
    return function


@click.command(cls=Verb)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    required=True,
    type=click.Path(),
    help="File to write, whole or not at all; .gz and .zst compress.",
)
@click.option("--to", type=FormatName(), help="Format to write; by default what the ending of FILE says.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same trace, on every machine.")
@workload_options  # fmt: skip
def command(output: str, to: str | None, seed: int, **workload: Any) -> None:
    """Generate a trace of multi-turn agent sessions from a seed.

    Sessions of a few tenants share system prompts and project files, grow turn by turn, call tools, start sub-agents
    and are compacted when they outgrow the context. Lengths and times are medians of long-tailed distributions.

    \b
    Example:
      hitcurve synth --sessions 500 --hours 8 -o made.parquet
      hitcurve synth --seed 7 --think-seconds 600 -o made.jsonl.zst
    """
    from hitcurve.formats import write_trace
    from hitcurve.synth import synthesize

    trace = synthesize(seed=seed, **workload)
    write_trace(trace, output, format=to)
    click.echo(f"wrote {trace.n_requests:,} requests to {output}", err=True)
