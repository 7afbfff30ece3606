"""The list of trace formats, and one of them explained with its sample record."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hitcurve.formats import FORMATS, format_named
from hitcurve.formats.format import TraceFormat
from hitcurve.report.report import Report
from hitcurve.table import Table


def formats_report() -> Report:
    """One row a format."""
    table = Table(
        {
            "name": [f.name for f in FORMATS],
            "aliases": [" ".join(f.aliases) for f in FORMATS],
            "title": [f.title for f in FORMATS],
            "block_size": [f.defaults.block_size for f in FORMATS],
            "id_kind": [f.defaults.id_kind for f in FORMATS],
            "id_scope": [f.defaults.id_scope for f in FORMATS],
            "tail_rule": [f.defaults.tail_rule for f in FORMATS],
            "time_unit": [f.defaults.time_unit for f in FORMATS],
            "write": [f.write is not None for f in FORMATS],
        }
    )
    shown = {
        "name": table["name"],
        "what": table["title"],
        "block size": [str(size) if size else "told or inferred" for size in table["block_size"]],
        "ids": [f"{kind}, {scope}" for kind, scope in zip(table["id_kind"], table["id_scope"], strict=True)],
        "tail": table["tail_rule"],
        "times": [unit or "told" for unit in table["time_unit"]],
        "written": ["yes" if can else "" for can in table["write"]],
    }
    footing = ["each as it is or in .gz, .zst; from files, folders, patterns or -; hitcurve formats NAME explains one"]
    return Report((), Table(shown), table, {"formats": [_document(f) for f in FORMATS]}, footing, names=len(shown))


def format_report(name: str) -> Report:
    """One format: what a record is, field by field.  UnknownName where there is none of that name."""
    form = format_named(name)
    fields = {"field": [key for key, _ in form.fields], "meaning": [meaning for _, meaning in form.fields]}
    return Report(
        answers=[f"{form.name}: {form.title}", form.what],
        shown=Table(fields),
        table=Table(fields, {"format": _document(form)}),
        document=_document(form),
        footing=[*_lines(form), "", "sample:", form.sample],
        names=2,
    )


def formats_markdown() -> str:
    """The page docs/formats.md."""
    parts = [f"# Trace formats\n\n{formats_report().to_markdown()}\n"]
    for form in FORMATS:
        report = format_report(form.name)
        options = "\n".join(f"- {line}" for line in _lines(form))
        sample = f"```text\n{form.sample.strip()}\n```\n\n" if form.sample else ""
        fields = f"{report.shown.to_text('markdown')}\n\n" if form.fields else ""
        parts.append(f"## {form.name}\n\n{form.title}. {form.what}\n\n{sample}{fields}{options}\n")
    return "\n".join(parts)


def _lines(form: TraceFormat) -> list[str]:
    """What the format assumes, and its options."""
    d = form.defaults
    assumed = [
        f"block size {d.block_size}" if d.block_size else "block size from the file, or inferred",
        f"ids {d.id_kind}, {d.id_scope}",
        f"tail rule {d.tail_rule}",
        f"times in {d.time_unit}" if d.time_unit else "the unit of times is told by each file",
    ]
    names = [f"also called {', '.join(form.aliases)}"] if form.aliases else []
    reading = [f"--read {o.name}={o.default}: {o.what}" for o in form.options]
    writing = [f"--write {o.name}={o.default}: {o.what}" for o in form.write_options]
    return [*names, f"assumes {'; '.join(assumed)}", *reading, *writing]


def _document(form: TraceFormat) -> dict[str, Any]:
    return {
        "name": form.name,
        "aliases": list(form.aliases),
        "title": form.title,
        "what": form.what,
        **asdict(form.defaults),
        "fields": dict(form.fields),
        "sample": form.sample,
        "options": [asdict(option) for option in form.options],
        "write": form.write is not None,
        "write_options": [asdict(option) for option in form.write_options],
    }
