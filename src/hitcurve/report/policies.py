"""The reports of ``hitcurve policies``: all of them in a table, one with its docstring."""

from __future__ import annotations

import inspect
import re
from typing import Any, get_args, get_type_hints

from hitcurve._version import __version__
from hitcurve.policies import NAMES, policy_named
from hitcurve.policies.policy import Policy
from hitcurve.report.report import Report
from hitcurve.table import Table


def policies_report() -> Report:
    """Name, family, needs, parameters, pin support, title, paper and year of every policy."""
    facts = [policy_facts(policy_named(name)) for name in NAMES]
    plain = [{**f, "needs": " ".join(f["needs"]), "params": written(f["params"])} for f in facts]
    shown = {
        "name": [f["name"] for f in plain],
        "family": [f["family"] for f in plain],
        "needs": [f["needs"] for f in plain],
        "parameters": [f["params"] for f in plain],
        "pins": ["yes" if f["pins"] else "no" for f in plain],
        "what": [_without_name(f["title"]) for f in plain],
        "paper": [_cited(f) for f in plain],
    }
    return Report(
        answers=(),
        shown=Table(shown),
        table=Table({column: [row[column] for row in plain] for column in plain[0]}, {"hitcurve": __version__}),
        document={"policies": facts, "hitcurve": __version__},
        footing=["hitcurve policies NAME explains one; --policy ./mine.py runs your own (docs/add-a-policy.md)"],
        names=len(shown),
    )


def policy_report(name: str) -> Report:
    """The docstring of one policy and its parameters."""
    policy = policy_named(name)
    facts = policy_facts(policy)
    columns = {"parameter": "name", "type": "type", "default": "default", "what": "what"}
    table = Table({title: [param[key] for param in facts["params"]] for title, key in columns.items()})
    shown = Table({title: [str(cell) for cell in cells] for title, cells in table.columns.items()})
    needs = f"needs {', '.join(facts['needs'])}" if facts["needs"] else ""
    said = [facts["family"], _cited(facts), needs, "honours pins" if facts["pins"] else ""]
    return Report(
        answers=[policy.doc],
        shown=shown,
        table=table,
        document={**facts, "doc": policy.doc, "hitcurve": __version__},
        footing=[f"{policy.name}: {'; '.join(part for part in said if part)}"],
        names=len(columns),
    )


def policies_markdown() -> str:
    """The table of docs/policies.md."""
    lines = ["| policy | family | what it does | parameters | paper |", "|---|---|---|---|---|"]
    for name in NAMES:
        f = policy_facts(policy_named(name))
        cells = (f"`{name}`", f["family"], _without_name(f["title"]), written(f["params"]), f["paper"] or "folklore")
        lines.append(f"| {' | '.join(cells)} |")
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
        "pins": True if policy.name in NAMES else None,  # of a user's own, nobody knows
        "title": policy.title,
    }


def parameters(policy: Policy) -> list[dict[str, Any]]:
    """Name, type, default of each parameter, and the comment behind it in the file."""
    comments = _comments(policy.params)
    defaults = policy.params()
    return [
        {"name": name, "type": _kind(kind), "default": default, "what": comments.get(name, "")}
        for (name, kind), default in zip(get_type_hints(policy.params).items(), defaults, strict=True)
    ]


def written(params: list[dict[str, Any]]) -> str:
    """``small=0.1 ghost=0.9``."""
    return " ".join(f"{param['name']}={param['default']}" for param in params)


def _kind(kind: Any) -> str:
    """``int``; of a Literal its words: ``micro | drain``."""
    return " | ".join(get_args(kind)) or kind.__name__


def _comments(params: type) -> dict[str, str]:
    try:
        source = inspect.getsource(params)
    except (OSError, TypeError):
        return {}
    return dict(re.findall(r"^\s+(\w+): [^=\n]+ = [^#\n]+#\s*(.*)$", source, re.MULTILINE))


def _without_name(title: str) -> str:
    """``SIEVE: one queue ...`` without what the row says anyway."""
    return re.sub(r"^[^:]{1,30}: ", "", title)


def _cited(facts: dict[str, Any]) -> str:
    """The paper, with its year if it does not say it itself."""
    year = str(facts["year"] or "")
    return facts["paper"] if year in facts["paper"] else f"{facts['paper']}, {year}"
