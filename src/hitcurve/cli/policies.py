"""hitcurve policies"""

from __future__ import annotations

import click

from hitcurve.cli.output import Output, prints_results


@click.command()
@click.argument("name", required=False)
@prints_results
def command(name: str | None, output: Output) -> None:
    """List the eviction policies, or explain one.

    NAME may be the path of a policy file of your own.

    \b
    Example:
      hitcurve policies
      hitcurve policies s3fifo
    """
    from hitcurve.report.policies import policies_report, policy_report

    output.put(policies_report() if name is None else policy_report(name))
