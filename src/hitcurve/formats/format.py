"""What a trace format is: a name, what it assumes, how to recognise, read and write it, and a record explained."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hitcurve.errors import BadParameter

if TYPE_CHECKING:
    from hitcurve.formats.assembling import Read
    from hitcurve.formats.batches import Batch
    from hitcurve.formats.opening import Opened, Progress
    from hitcurve.trace import Trace


@dataclass(frozen=True)
class Defaults:
    """What a format means where neither the file nor the caller says otherwise (fields as in ``Definition``).

    ``block_size`` None: in the file, or inferred.  ``time_unit`` None: told by each file.
    """

    block_size: int | None
    id_kind: str
    id_scope: str
    tail_rule: str
    time_unit: str | None


@dataclass(frozen=True)
class Keys:
    """The keys of a row that hold the columns of a trace; None where the format has no such key."""

    ids: str
    time: str | None = None
    input_tokens: str | None = None
    output_tokens: str | None = None
    turn: str | None = None
    completion: str | None = None
    session: str | None = None
    parent_session: str | None = None
    request_type: str | None = None
    tenant: str | None = None
    model: str | None = None
    request_id: str | None = None
    block_size: str | None = None


@dataclass(frozen=True)
class Option:
    """``name``, ``default`` as the user would write it, and ``what`` it does, in one line."""

    name: str
    default: str
    what: str


@dataclass(frozen=True)
class Wish:
    """What the caller asked of ``read_trace``; None: as the format and the file say."""

    block_size: int | None = None
    identity: str = "prefix"
    id_kind: str | None = None
    id_scope: str | None = None
    tail: str = "keep"
    time_unit: str | None = None
    head: int | None = None
    skip_bad: bool = False
    sort: bool = False
    progress: Progress | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Json:
    """How a format of JSON documents (one a line, or one a file) becomes rows.

    ``keys``      where a row keeps its columns
    ``nested``    id arrays stand at any depth of a document, not only at its top
    ``prepare``   makes the rows of a batch out of its documents, in place; None: documents are rows
    ``settle``    changes all rows together, once they are read
    ``sorts``     rows are not meant to stand in time order in the file
    ``required``  fields of ``keys`` that every row must have
    ``words``     ids are words of 64 bits: those from 2**63 on stand for themselves less 2**64
    ``full_blocks``  a partial last block has no id, so that a row has ``floor(length / block size)``
    ``choose_keys``  makes the keys from the options of the format, in place of ``keys``
    """

    keys: Keys
    nested: bool = False
    prepare: Callable[[Batch, dict[str, Any]], None] | None = None
    settle: Callable[[Read, dict[str, Any]], None] | None = None
    sorts: bool = False
    required: tuple[str, ...] = ()
    words: bool = False
    full_blocks: bool = False
    choose_keys: Callable[[Mapping[str, Any]], Keys] | None = None


@dataclass(frozen=True)
class TraceFormat:
    """One entry of ``FORMATS``.

    ``what``       one paragraph: who writes it, what a record is
    ``sample``     a record as it stands in a file
    ``fields``     (key, meaning) pairs that explain the sample
    ``recognise``  (first document or None, first bytes) -> bool
    ``json``       how to read it, for formats made of JSON; others have ``read``
    ``write``      (trace, path, options) -> None, for formats that can be written
    """

    name: str
    title: str
    what: str
    defaults: Defaults
    sample: str
    fields: tuple[tuple[str, str], ...]
    recognise: Callable[[dict[str, Any] | None, bytes], bool]
    aliases: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    json: Json | None = None
    read: Callable[[list[Opened], Wish], Trace] | None = None
    write: Callable[..., None] | None = None
    write_options: tuple[Option, ...] = ()


def is_number(value: Any) -> bool:
    """A finite number >= 0, and no bool."""
    return (type(value) is int or type(value) is float) and 0 <= value < 2**63


def yes(options: Mapping[str, Any], name: str) -> bool:
    """An option that is yes or no (default)."""
    value = options.get(name, False)
    if value not in (True, False, "yes", "no", "true", "false"):
        raise BadParameter(f"{name}: wanted yes or no, found {value!r}")
    return value in (True, "yes", "true")
