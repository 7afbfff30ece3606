"""Chains, depths, parents, sharing and next holders against one reference at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

from hitcurve.trace import Trace, derived
from tests.naive import derived as naive
from tests.trace.traces import traces


def plain(trace: Trace) -> list[list[int]]:
    return [trace.blocks(i).tolist() for i in range(trace.n_requests)]


@settings(max_examples=200)
@given(traces())
def test_depth_parent_and_sharing(trace: Trace) -> None:
    requests = plain(trace)
    depth, parent = naive.depths_and_parents(requests)
    assert derived.depths(trace).tolist() == depth
    assert derived.parents(trace).tolist() == parent
    assert derived.sharing(trace).tolist() == naive.sharing(requests, trace.n_blocks)
    own = derived.chains(trace)
    assert own.first.tolist() == [
        b for b in range(trace.n_blocks) if parent[b] == -1 or parent[b] != b - 1 or depth[b] != depth[b - 1] + 1
    ]
    assert own.depth.tolist() == [depth[b] for b in own.first]
    assert own.parent.tolist() == [parent[b] for b in own.first]
    blocks = np.arange(trace.n_blocks)
    assert derived.chains(trace).of_blocks(blocks).tolist() == [sum(f <= b for f in own.first) - 1 for b in blocks]


@settings(max_examples=200)
@given(traces())
def test_next_holders(trace: Trace) -> None:
    found = derived.next_holders(trace)
    for r, wanted in enumerate(naive.next_holders(plain(trace))):
        runs = slice(found.offsets[r], found.offsets[r + 1])
        assert np.repeat(found.request[runs], found.length[runs]).tolist() == wanted
        assert np.all(np.diff(found.request[runs]) != 0) and np.all(found.length[runs] > 0)


def test_namespaces_are_seen_where_ids_alone_do_not_tell_blocks_apart() -> None:
    from hitcurve.trace.interning import Interner

    def of(requests: list[list[int]], namespaces: list[int]) -> Trace:
        interner = Interner()
        offsets, first, length = interner.add_lists(requests, np.array(namespaces))
        return Trace(np.arange(len(requests)), offsets, first, length, **interner.result())

    assert not derived.is_namespaced(of([[1, 2], [1, 3]], [0, 0]))
    assert not derived.is_namespaced(of([[1, 2], [3, 2]], [0, 1]))
    assert derived.is_namespaced(of([[1, 2], [1, 3]], [0, 1]))
