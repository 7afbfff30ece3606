"""Random small traces for hypothesis: tree-shaped, with repeats, empty requests, ids of every kind, columns or none."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from hitcurve.trace import Definition, Labels, Trace
from hitcurve.trace.interning import Interner

plain_ids = st.integers(0, 3)
odd_ids = st.sampled_from(
    [0, 1, -1, "1", "x", b"x", b"\xff", "", 2**63, -(2**63), 2**63 - 1, 2**70, -(2**90), "\ud800"]
)
names = st.one_of(st.none(), st.sampled_from(["a", "b", "c/d", "é", ""]))


@st.composite
def traces(draw: Any, ids: Any = plain_ids, identity: str | None = None, namespaces: bool = True) -> Trace:
    """A trace of at most 12 requests of at most 9 blocks each."""
    requests = draw(st.lists(st.lists(ids, max_size=9), max_size=12))
    n = len(requests)
    how = identity or draw(st.sampled_from(["prefix", "raw"]))
    interner = Interner(how)
    spaces = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)) if namespaces else [0] * n, np.int64)
    offsets, first, length = interner.add_lists(requests, spaces)

    def numbers(low: int, high: int) -> Any:
        return draw(st.one_of(st.none(), st.lists(st.integers(low, high), min_size=n, max_size=n)))

    def labels() -> Labels | None:
        return Labels.of(draw(st.lists(names, min_size=n, max_size=n)))

    return Trace(
        arrival_ns=np.cumsum(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), dtype=np.int64),
        span_offsets=offsets,
        span_first=first,
        span_length=length,
        input_tokens=numbers(0, 2**60),
        output_tokens=numbers(-1, 5),
        completion_ns=numbers(-1, 2**62),
        turn=numbers(-1, 7),
        session=labels(),
        tenant=labels(),
        request_type=labels(),
        definition=Definition(block_size=draw(st.sampled_from([None, 16])), identity=how, notes=("a note",)),
        **interner.result(),
    )
