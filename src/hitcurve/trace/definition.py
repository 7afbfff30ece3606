"""Definition: what the numbers of a trace mean."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Definition:
    """What the numbers of a trace mean: how it was read, and what counts as a block.  Shown in every output.

    ``block_size``     tokens in a full block, or None where nobody said (then nothing is reported in tokens)
    ``identity``       ``prefix``: a block is its whole path; ``raw``: the id as written, whatever stands before it
    ``id_kind``        what the ids in the file mean: ``prefix`` (chained), ``block`` (content), ``raw`` (unknown)
    ``id_scope``       where an id means the same: ``global`` (everywhere), ``conversation``, ``file`` ...
    ``tail_rule``      a partial last block has an id in the file: ``ceil`` (always), ``floor`` (never), ``mixed``
    ``tail``           what was done with a partial last block: ``keep`` or ``drop``
    ``time_unit``      unit of the times in the file: ``s``, ``ms``, ``us``, ``ns``, or ``none`` where it has no times
    ``format``         name of the format it was read with
    ``sources``        where it came from: file names, or the generator's call
    ``rows_dropped``   rows left out under ``skip_bad``
    ``rows_sorted``    rows that stood behind a later one in the file, and were put into time order under ``sort``
    ``notes``          plain sentences on what the reader had to assume
    """

    block_size: int | None = None
    identity: str = "prefix"
    id_kind: str = "prefix"
    id_scope: str = "global"
    tail_rule: str = "floor"
    tail: str = "keep"
    time_unit: str = "ns"
    format: str = "memory"
    sources: tuple[str, ...] = ()
    rows_dropped: int = 0
    rows_sorted: int = 0
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Field names and values, ready for JSON."""
        return {f.name: list(v) if isinstance(v := getattr(self, f.name), tuple) else v for f in fields(self)}

    @classmethod
    def of_dict(cls, values: dict[str, Any]) -> Definition:
        """The inverse of ``as_dict``; KeyError where a field is missing."""
        given: dict[str, Any] = {f.name: values[f.name] for f in fields(cls)}
        given.update({name: tuple(value) for name, value in given.items() if isinstance(value, list)})
        return cls(**given)
