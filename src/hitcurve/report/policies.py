"""The reports of ``hitcurve policies``: all of them in a table, one with its docstring."""

from __future__ import annotations

import inspect
import re
from typing import Any

from hitcurve._version import __version__
from hitcurve.policies import NAMES, policy_named
from hitcurve.policies.policy import Policy
from hitcurve.report.report import Report
from hitcurve.table import Table


def policies_report() -> Report:
    """Name, family, paper, year, needs, parameters, pin support and title of every policy."""
    facts = [policy_facts(policy_named(name)) for name in NAMES]
    plain = [{**f, "needs": " ".join(f["needs"]), "params": _written(f["params"])} for f in facts]
    columns = ("name", "family", "year", "needs", "params", "title")
    return Report(
        answers=[f"{len(facts)} policies; all of them honour pins"],
        shown=Table({column: [row[column] or "" for row in plain] for column in columns}),
        table=Table({column: [row[column] for row in plain] for column in plain[0]}, {"hitcurve": __version__}),
        document={"policies": facts, "hitcurve": __version__},
        footing=["hitcurve policies NAME explains one; --policy ./mine.py runs your own (docs/add-a-policy.md)"],
    )


def policy_report(name: str) -> Report:
    """The docstring of one policy and its parameters."""
    policy = policy_named(name)
    facts = policy_facts(policy)
    params = facts["params"]
    table = Table({column: [param[column] for param in params] for column in ("name", "type", "default", "what")})
    return Report(
        answers=[f"{policy.name} ({policy.family})", policy.doc],
        shown=table if params else Table({}),
        table=table,
        document={**facts, "doc": policy.doc, "hitcurve": __version__},
        footing=[f"needs: {', '.join(facts['needs'])}"] if facts["needs"] else [],
    )


def policies_markdown() -> str:
    """The table of all policies for docs/policies.md."""
    lines = ["| policy | family | what it does | parameters | paper |", "|---|---|---|---|---|"]
    for name in NAMES:
        f = policy_facts(policy_named(name))
        title = re.sub(r"^[^:]{1,30}: ", "", f["title"])
        lines.append(f"| `{name}` | {f['family']} | {title} | {_written(f['params'])} | {f['paper'] or 'folklore'} |")
    return "\n".join(lines) + "\n"


def policy_facts(policy: Policy) -> dict[str, Any]:
    """What the lists say of one policy, ready for JSON."""
    return {
        "name": policy.name,
        "family": policy.family,
        "paper": policy.paper,
        "year": policy.year,
        "needs": sorted(policy.needs),
        "params": parameters(policy),
        "pins": True,
        "title": policy.title,
    }


def parameters(policy: Policy) -> list[dict[str, Any]]:
    """Name, type, default of each parameter, and the comment behind it in the file."""
    comments = _comments(policy.params)
    return [
        {"name": name, "type": getattr(kind, "__name__", kind), "default": default, "what": comments.get(name, "")}
        for (name, kind), default in zip(policy.params.__annotations__.items(), policy.params(), strict=True)
    ]


def _comments(params: type) -> dict[str, str]:
    try:
        source = inspect.getsource(params)
    except (OSError, TypeError):
        return {}
    return dict(re.findall(r"^\s+(\w+): \w+ = [^#\n]+#\s*(.*)$", source, re.MULTILINE))


def _written(params: list[dict[str, Any]]) -> str:
    return " ".join(f"{param['name']}={param['default']}" for param in params)
