"""PrefixSim's older ``lcsllm`` files, version 1 (read)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hitcurve.errors import BadParameter
from hitcurve.formats.format import Defaults, TraceFormat, Wish
from hitcurve.formats.prefixsim import LCSLLM, has_magic

if TYPE_CHECKING:
    from hitcurve.formats.opening import Opened
    from hitcurve.trace import Trace


def _read(files: list[Opened], wish: Wish) -> Trace:
    if wish.identity == "raw":
        raise BadParameter("identity raw: the ids of an lcsllm file are whole paths; they have no raw form")
    from hitcurve.formats.prefixsim_reading import read

    return read(LCSLLM_FORMAT, LCSLLM, files, wish)


LCSLLM_FORMAT = TraceFormat(
    name="lcsllm",
    title="PrefixSim's lcsllm files, version 1",
    what="The predecessor of lcp: one time a request, no sessions, next accesses as they are.",
    defaults=Defaults(block_size=None, id_kind="prefix", id_scope="global", tail_rule="ceil", time_unit="us"),
    sample="",
    fields=(
        *((field.name, field.what) for field in LCSLLM.record),
        ("block_id", "id of the whole path (u64)"),
        ("next_access", "number of the block's next access, from 1; -1: never (i64)"),
    ),
    recognise=lambda document, start: has_magic(LCSLLM, start),
    read=_read,
)
