"""Writing files so that nobody ever sees half of one: write beside, then rename.

A reader of ``path`` finds the old file or the new one, whole.  Whatever fails on the way, a full disk and Ctrl-C
included, leaves the old file as it was and no temporary one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hitcurve.errors import OutputError


@contextmanager
def published(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """A file to write to (``open``'s ``mode`` and ``options``), that becomes ``path`` when the block ends well.

    OutputError where the folder cannot be written or the disk is full.
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"{target}: is a folder")
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
