"""Small random facts: instances of both kinds, names of all characters, ages that rise along a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from hitcurve.offline.fact_rows import FactRows
from hitcurve.projection import INFINITE
from tests.naive.facts import Row

NAMES = st.text(st.sampled_from("ab0 ,\"'\n\r\\[]:#é\U0001f600"), max_size=6)


@st.composite
def fact_rows(draw: Any, most: int = 8, names: st.SearchStrategy[str] = NAMES, rising: bool = True) -> list[Row]:
    """Rows of up to three instances, each with one kind of facts, one block size and one time to live."""
    instances = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        sizes = draw(st.tuples(st.integers(1, 64), st.integers(1, 9)))
        instances.append((name, *sizes, draw(st.booleans()), draw(st.none() | st.integers(1, 9))))
    rows = []
    for _ in range(draw(st.integers(0, most))):
        name, tokens, n_bytes, in_bytes, ttl = draw(st.sampled_from(instances))
        pairs, first, hits, age = [], 0, 0, 0
        for gap, size, older in draw(
            st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(0, 4)), max_size=4)
        ):
            first, hits, age = first + gap, hits + size, age + older if rising else older
            pairs.append((first, hits if in_bytes else size, age))
            first += 0 if in_bytes else size - 1
        blocks = 0 if not pairs else pairs[-1][1] if in_bytes else sum(size for _, size, _ in pairs)
        length = draw(st.integers(0, 3)) + tokens * (blocks + draw(st.integers(0, 2)))
        when = draw(st.integers(0, 50) | st.sampled_from([1 - 2**63, 2**63 - 1, 1_720_000_000_000_000_000]))
        rows.append(Row(draw(names), name, when, length, tokens, n_bytes, in_bytes, pairs, ttl))
    return rows


def in_columns(rows: Sequence[Row], ages: bool = True) -> FactRows:
    """The same as a batch."""

    def column(values: Any) -> np.ndarray:
        return np.array(list(values), np.int64)

    return FactRows(
        [row.trace_id for row in rows],
        [row.instance_id for row in rows],
        column(row.timestamp_ns for row in rows),
        column(row.input_token_len for row in rows),
        column(row.block_size_tokens for row in rows),
        column(row.block_bytes for row in rows),
        np.array([row.in_bytes for row in rows], bool),
        np.cumsum(column([0, *(len(row.pairs) for row in rows)])),
        *(column(pair[k] for row in rows for pair in row.pairs) for k in (0, 1)),
        age_ns=column(pair[2] for row in rows for pair in row.pairs) if ages else None,
        ttl_ns=column(row.ttl or INFINITE for row in rows) if ages else None,
    )
