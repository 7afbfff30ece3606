"""The leaves equal a search among plain sets, whatever is accessed and evicted, pinned or not."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.frame import OCCUPIED, PIN, Context
from hitcurve.kernels.leaves import check_leaves, grow, new_leaves, prune, rank
from hitcurve.simulation import new_frame
from hitcurve.trace import Trace
from tests.policies.trees import raw_requests, tree_requests


@entry
def access(leaves, frame, block, key, tie):
    if frame.resident[block]:
        rank(leaves, block, key, tie)
    else:
        frame.resident[block] = 1
        grow(leaves, block, key, tie)


def served(trace, keys, victims, deepest_first, pin):
    """Access every request, and take some leaves away before each; yield after each step."""
    frame = new_frame(trace, max(1, trace.n_blocks), np.ones(10), needs=frozenset({"tree"}))
    leaves = new_leaves(trace.n_blocks, max(1, trace.n_blocks), frame.context)
    frame.numbers[PIN] = pin
    parent = {b: p for b, p in enumerate(leaves.parent.tolist()) if p >= 0}
    assert trace.contract or not parent
    expected: dict[int, tuple[int, int]] = {}
    clock = 0
    for r in range(trace.n_requests):
        blocks = trace.blocks(r).tolist()
        frame.requested[blocks] = 1
        for _ in range(victims[r % len(victims)]):
            free = [b for b in expected if not pin or b not in blocks]
            if not free:
                break
            bearing = {parent[b] for b in expected if b in parent}
            wanted = min((b for b in free if b not in bearing), key=expected.__getitem__)
            assert prune(leaves, frame) == wanted
            frame.resident[wanted] = 0
            del expected[wanted]
        frame.requested[blocks] = 0
        for block in reversed(blocks) if deepest_first else blocks:
            clock += 1
            rank_now = (keys[clock % len(keys)], clock)
            access(leaves, frame, block, *rank_now)
            expected[block] = rank_now
        frame.numbers[OCCUPIED] = len(expected)
        check_leaves(leaves, frame)


@settings(max_examples=150, deadline=None)
@given(
    requests=tree_requests,
    keys=st.lists(st.integers(-2, 2), min_size=1, max_size=7),
    victims=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    deepest_first=st.booleans(),
    pin=st.booleans(),
)
def test_equals_a_search_in_a_tree(requests, keys, victims, deepest_first, pin):
    served(Trace.of_requests(requests), keys, victims, deepest_first, pin)


@settings(max_examples=50, deadline=None)
@given(
    requests=raw_requests,
    keys=st.lists(st.integers(-2, 2), min_size=1, max_size=7),
    victims=st.lists(st.integers(0, 6), min_size=1, max_size=5),
    pin=st.booleans(),
)
def test_every_block_is_a_leaf_where_ids_form_no_tree(requests, keys, victims, pin):
    served(Trace.of_requests(requests, identity="raw"), keys, victims, True, pin)


def test_by_hand():
    """a b c d and a b x: d and x are leaves; then c; then b."""
    trace = Trace.of_requests([["a", "b", "c", "d"], ["a", "b", "x"]])
    frame = new_frame(trace, 5, np.ones(4), needs=frozenset({"tree"}))
    leaves = new_leaves(5, 5, frame.context)
    for clock, block in enumerate([3, 2, 1, 0, 4, 1, 0]):
        access(leaves, frame, block, clock, 0)
    gone = []
    for _ in range(5):
        check_leaves(leaves, frame)
        gone.append(int(prune(leaves, frame)))
        frame.resident[gone[-1]] = 0
    assert gone == [3, 2, 4, 1, 0]


def test_of_no_tree_says_so():
    none = Context(*(np.zeros(1, np.int64),) * 4, parent=np.zeros(3, np.int32), tree=False)
    assert new_leaves(3, 3, none).parent.tolist() == [-1, -1, -1]
