"""Table: named columns of equal length, and where they come from.

Everything hitcurve reports is a Table; text, csv, json, parquet, Arrow, pandas and notebook html are views of it.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.publish import published

if TYPE_CHECKING:
    import pandas
    import pyarrow

FORMATS = ("csv", "json", "parquet")


@dataclass(frozen=True, repr=False)
class Table:
    """``columns``: name -> numpy array or list (None where a cell is empty); ``provenance``: JSON-ready facts.

    >>> t = Table({"capacity_blocks": [2, None], "hit_blocks": [7, 8]}, {"trace": "example"})
    >>> t
    capacity_blocks  hit_blocks
                  2           7
                              8
    >>> t["hit_blocks"], len(t)
    ([7, 8], 2)
    """

    columns: Mapping[str, Any]
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise BadParameter(f"columns of one table must have one length, found {lengths}")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, column: str) -> Any:
        return self.columns[column]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Each row as a dictionary of plain Python values."""
        plain = {n: v.tolist() if isinstance(v, np.ndarray) else v for n, v in self.columns.items()}
        for values in zip(*plain.values(), strict=True):
            yield dict(zip(plain, values, strict=True))

    def to_arrow(self) -> pyarrow.Table:
        """A pyarrow Table, the provenance as JSON under ``hitcurve`` in its schema's metadata."""
        import pyarrow

        metadata = {"hitcurve": json.dumps(self.provenance)}
        return pyarrow.table({n: pyarrow.array(v) for n, v in self.columns.items()}).replace_schema_metadata(metadata)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame, the provenance in its ``attrs``."""
        import pandas

        frame = pandas.DataFrame(dict(self.columns))
        frame.attrs["hitcurve"] = dict(self.provenance)
        return frame

    def to_text(self, style: str = "plain", right: Collection[str] = ()) -> str:
        """Aligned text (``plain``) or ``markdown``; ratios with 6 digits, whole numbers in full.

        Columns of numbers are aligned to the right, and so are those named in ``right``.
        """
        to_right = [name in right or _is_number_column(values) for name, values in self.columns.items()]
        lines = [list(self.columns), *([_cell(value) for value in row.values()] for row in self.rows())]
        if style == "markdown":
            lines = [[cell.replace("|", "\\|") for cell in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = [
            [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(line, widths, to_right, strict=True)]
            for line in lines
        ]
        if style != "markdown":
            return "\n".join("  ".join(line).rstrip() for line in padded)
        rule = ["-" * (w - 1) + ":" if r else "-" * w for w, r in zip(widths, to_right, strict=True)]
        return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])

    def to_csv(self) -> str:
        """CSV under one ``#`` line that holds the provenance as JSON (pandas: ``read_csv(..., comment="#")``)."""
        out = io.StringIO()
        out.write("# " + json.dumps(self.provenance) + "\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(["" if v is None else v for v in row.values()] for row in self.rows())
        return out.getvalue()

    def to_json(self) -> str:
        """One object: ``provenance`` and ``rows``."""
        return json.dumps({"provenance": self.provenance, "rows": list(self.rows())}, indent=1, allow_nan=False)

    def write(self, path: str | os.PathLike[str], format: str | None = None) -> None:
        """Write csv, json or parquet (by default what the file's ending says), whole or not at all."""
        name = format or os.fspath(path).rsplit(".", 1)[-1].lower()
        if name not in FORMATS:
            raise BadParameter(f"{path}: a table is written as one of {', '.join(FORMATS)}, not {name!r}")
        with published(path) as file:
            if name == "parquet":
                from pyarrow import parquet

                parquet.write_table(self.to_arrow(), file, compression="zstd")
            else:
                file.write((self.to_csv() if name == "csv" else self.to_json() + "\n").encode())

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from html import escape

        def line(tag: str, cells: Iterable[str]) -> str:
            return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(line("td", map(_cell, row.values())) for row in self.rows())
        return f"<table><thead>{line('th', self.columns)}</thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6f}"
    return str(value)


def _is_number_column(values: Sequence[Any] | np.ndarray) -> bool:
    if isinstance(values, np.ndarray):
        return bool(np.issubdtype(values.dtype, np.number))
    return all(v is None or isinstance(v, (int, float)) for v in values)
