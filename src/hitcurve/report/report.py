"""Report: the answer first, then a table, then what was counted; as text, markdown, json, csv or parquet."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hitcurve.errors import BadParameter
from hitcurve.publish import published
from hitcurve.table import Table

FORMATS = ("table", "json", "csv", "markdown")
ENDINGS = {"txt": "table", "json": "json", "csv": "csv", "md": "markdown", "parquet": "parquet"}


def format_for(
    path: str | os.PathLike[str], format: str | None, endings: Mapping[str, str], default: str | None = None
) -> str:
    """The format asked for, else what the ending of ``path`` says, else ``default``.

    BadParameter where the two contradict each other (text may be of any format), or nothing is said.
    """
    ending = os.fspath(path).rsplit(".", 1)[-1].lower()
    meant = endings.get(ending)
    name = format or meant or default
    if name is None:
        raise BadParameter(f"{path}: wanted an ending of {', '.join(sorted(endings))}, or a format, found {ending!r}")
    if meant not in (None, "table", name):
        raise BadParameter(f"{path}: the ending says {meant}, the format asked for is {name}")
    return name


@dataclass(frozen=True, repr=False)
class Report:
    """What a verb prints.

    ``answers``   sentences, the most important first
    ``shown``     the table for people: few columns, units in the cells
    ``table``     the table for machines: plain numbers (csv, parquet)
    ``document``  the JSON object
    ``footing``   lines under the table: what was counted over what, and how the trace was read
    ``picture``   text that is shown as it is: a plot made of characters, a second table
    ``names``     so many columns of ``shown`` hold names, the others numbers (aligned to the right)
    """

    answers: Sequence[str]
    shown: Table
    table: Table
    document: Mapping[str, Any]
    footing: Sequence[str] = ()
    picture: str = ""
    names: int = 1

    def to_text(self) -> str:
        """Answers, the table for people, the picture, footing."""
        parts = ("\n".join(self.answers), self._aligned(), self.picture, "\n".join(self.footing))
        return "\n\n".join(part for part in parts if part)

    def to_markdown(self) -> str:
        """The same as ``to_text``, in markdown."""
        answers = "\n".join(f"- {line}" for line in self.answers)
        picture = f"```\n{self.picture}\n```" if self.picture else ""
        parts = (
            answers,
            self.shown.to_text("markdown", self._right),
            picture,
            "\n".join(f"> {line}  " for line in self.footing),
        )
        return "\n\n".join(part for part in parts if part)

    def to_json(self) -> str:
        """The document: valid JSON, no NaN."""
        return json.dumps(self.document, indent=1, allow_nan=False)

    def render(self, format: str) -> str:
        """As one of ``FORMATS``, with a line end."""
        if format == "csv":
            return self.table.to_csv()
        text = {"table": self.to_text, "json": self.to_json, "markdown": self.to_markdown}[format]()
        return text + "\n"

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write what ``format`` says, else what the file's ending says; whole or not at all."""
        name = format_for(path, format, ENDINGS)
        if name == "parquet":
            self.table.write(path, "parquet")
            return
        text = self.render(name)
        with published(path) as file:
            file.write(text.encode())

    @property
    def _right(self) -> list[str]:
        return list(self.shown.columns)[self.names :]

    def _aligned(self) -> str:
        """The table for people."""
        return self.shown.to_text("plain", self._right) if len(self.shown) else ""

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from html import escape

        lines = "".join(f"<p><b>{escape(a)}</b></p>" for a in self.answers)
        footing = "<br>".join(escape(f) for f in self.footing)
        return f"{lines}{self.shown._repr_html_()}<p><small>{footing}</small></p>"
