"""Dense ids are those of a dictionary of whole paths (or of raw ids), in whatever batches they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter
from hitcurve.trace import Trace
from hitcurve.trace.interning import Interner, renumbered
from tests.naive import interning as naive
from tests.trace.traces import odd_ids, plain_ids, traces

long_chains = st.integers(0, 1).flatmap(lambda i: st.lists(st.sampled_from([i, i, i, 2]), max_size=40))
requests_of = st.one_of(
    st.lists(st.lists(plain_ids, max_size=12), max_size=15),
    st.lists(st.lists(odd_ids, max_size=6), max_size=12),
    st.lists(long_chains, max_size=10),
)


@settings(max_examples=250)
@given(requests_of, st.data(), st.sampled_from(["prefix", "raw"]))
def test_equal_to_dictionaries_in_any_batches(requests: list[list[Any]], data: Any, identity: str) -> None:
    n = len(requests)
    namespaces = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    dense, raws, tree = naive.interned(requests, namespaces, identity)
    interner = Interner(identity)
    found: list[list[int]] = []
    for start, stop in zip([0, *cuts], [*cuts, n], strict=True):
        offsets, first, length = interner.add_lists(requests[start:stop], np.array(namespaces[start:stop], np.int64))
        for r in range(stop - start):
            spans = range(offsets[r], offsets[r + 1])
            assert all(first[s] != first[s - 1] + length[s - 1] for s in spans[1:])  # spans are as long as can be
            found.append([b for s in spans for b in range(first[s], first[s] + length[s])])
    result = interner.result()
    assert found == dense
    assert result["n_blocks"] == len(raws)
    assert result["contract"] == tree
    got = [result["raw_ids"][block] for block in range(len(raws))]
    assert got == raws and list(map(type, got)) == list(map(type, raws))


@settings(max_examples=200)
@given(traces(), st.data(), st.sampled_from([1, 5, 1 << 20]))
def test_a_selection_is_numbered_as_if_it_were_all(trace: Trace, data: Any, batch: int) -> None:
    order = np.array(data.draw(st.permutations(range(trace.n_requests))), np.int64)
    order = order[: data.draw(st.integers(0, trace.n_requests))]
    spans = trace.span_offsets, trace.span_first, trace.span_length
    fields = renumbered(order, *spans, trace.raw_ids, trace.definition.identity, batch)
    chosen = Trace(arrival_ns=np.arange(len(order)), **fields)
    old = [trace.blocks(r).tolist() for r in order]
    dense, raws, tree = naive.interned(old, [0] * len(order), "raw")  # old ids are unique already
    assert [chosen.blocks(i).tolist() for i in range(len(order))] == dense
    assert trace.raw_ids is not None and chosen.raw_ids is not None
    assert [chosen.raw_ids[b] for b in range(chosen.n_blocks)] == [trace.raw_ids[b] for b in raws]
    assert chosen.contract == tree


def test_many_blocks_grow_the_tables() -> None:
    ids = np.random.default_rng(3).integers(0, 50, (2000, 9))
    interner = Interner()
    parts = [interner.add(part.ravel(), np.arange(0, part.size + 1, 9)) for part in np.split(ids, 20)]
    assert len({tuple(row[: k + 1]) for row in ids.tolist() for k in range(9)}) == interner.n_blocks
    assert sum(length.sum() for _, _, length in parts) == ids.size


def test_other_identities_are_refused() -> None:
    with pytest.raises(BadParameter, match="identity: wanted prefix or raw, found 'hash'"):
        Interner("hash")
