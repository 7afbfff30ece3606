"""Opening a facts file of either layout: CSV as LiteHit writes it, or Parquet."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hitcurve.errors import TraceError
from hitcurve.offline.fact_rows import FactRows

CSV, PARQUET = "litehit_facts.csv", "litehit_facts.parquet"  # the two files of a run, in its folder
MAGIC = b"PAR1"


class FactsFile(NamedTuple):
    """An open facts file."""

    name: str
    has_ages: bool  # whether it can be asked for any time to live
    provenance: dict[str, Any]  # the metadata of Parquet facts; empty where there is none
    batches: Iterator[FactRows]  # its rows, once


def files_of(source: str | os.PathLike[str]) -> list[Path]:
    """The files of the run that ``source`` names, or is one of: whoever writes there loses facts."""
    path = Path(source)
    folder = path if path.is_dir() else path.parent
    return [path, folder / CSV, folder / PARQUET]


@contextmanager
def open_facts(source: str | os.PathLike[str]) -> Iterator[FactsFile]:
    """The facts in a file (``-``: standard input), as it is or compressed with gzip or zstd; the layout is recognised.
    Of a folder, the Parquet file of a run in it, else its CSV file.

    TraceError, at once or while the batches are read, for what is no facts file, or a row that cannot be.
    """
    path = None if os.fspath(source) == "-" else Path(source)
    if path is not None and path.is_dir():
        folder, path = path, next((path / name for name in (PARQUET, CSV) if (path / name).exists()), None)
        if path is None:
            raise TraceError(folder, reason=f"no facts in this folder: wanted {PARQUET} or {CSV}")
    if path is not None and _begins_as_parquet(path):
        from hitcurve.offline.facts_parquet import read_parquet

        yield FactsFile(str(path), True, *read_parquet(path, str(path)))
        return
    from hitcurve.formats.opening import Opened

    file = Opened(path)
    try:
        if file.peek(len(MAGIC)).startswith(MAGIC):  # compressed, or from standard input
            from hitcurve.offline.facts_parquet import read_parquet

            yield FactsFile(file.name, True, *read_parquet(io.BytesIO(file.peek(1 << 62)), file.name))
        else:
            from hitcurve.offline.facts_csv_reading import read_csv

            yield FactsFile(file.name, False, {}, read_csv(file))
    finally:
        file.close()


def _begins_as_parquet(path: Path) -> bool:
    if not path.is_file():  # what stands in a pipe is gone when it was read
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False
