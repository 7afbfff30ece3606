"""The prefix tree in stretches equals one of nodes that are lists, whatever becomes resident, drawable or neither."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.kernels.bits import members
from hitcurve.kernels.prefix_tree import SIZE, listed, new_prefix_tree, take_path
from hitcurve.kernels.tree_blocks import expel, offer, representative, serve_spans, set_spans_aside
from hitcurve.trace import Trace
from tests.naive.prefix_tree import Tree

SERVE, ASIDE, OFFER, EXPEL = range(4)


def spans(trace, r):
    return trace.span_first, trace.span_length, trace.span_offsets[r], trace.span_offsets[r + 1]


def same_shape(tree, slow):
    first = {node.blocks[0]: node for node in slow.nodes()}
    expected = [(node.blocks, node.parent.blocks[-1] if node.parent else -1) for _, node in sorted(first.items())]
    found = listed(tree)
    assert sorted(found) == sorted(expected)
    assert [set(members(bits)) for bits in (tree.resident, tree.drawable, tree.aside)] == [
        slow.resident, slow.drawable, slow.aside,
    ]  # fmt: skip
    order = [tree.rows[node, 0] for node in tree.members[: tree.numbers[SIZE]]]
    assert order == [node.blocks[0] for node in slow.members]


def same_answers(tree, slow, deep_end):
    for slot, node in enumerate(slow.members):
        row = int(tree.members[slot])
        assert representative(tree, row, 0, 0)[0] == slow.to_go(node, deep_end)[0]
        for n in (0, 1, 2, 3, 5, 8, 100):
            for whole in (0, 1):
                block, depth = representative(tree, row, n, whole)
                assert block == slow.representative(node, n, bool(whole), deep_end)
                assert depth == slow.cost_position(block)


# A path of a small tree, then changes: operation, which path or where in the list of blocks that it may be done to, and
# to how many of them or, where a path is served, whether all of it is drawable from then on.
paths = st.lists(st.integers(0, 2), min_size=1, max_size=9)
changes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 40)), max_size=6)
steps = st.lists(st.tuples(paths, changes), min_size=1, max_size=25)


@pytest.mark.parametrize("identity", ["prefix", "raw"])
@settings(max_examples=200, deadline=None)
@given(steps=steps, deep_end=st.booleans(), deepest_first=st.booleans())
def test_equals_a_tree_of_lists(identity, steps, deep_end, deepest_first):
    trace = Trace.of_requests([path for path, _ in steps], identity=identity)
    n, slow = trace.n_blocks, Tree()
    tree = new_prefix_tree(n, n, deep_end)
    for r, (_, changes) in enumerate(steps):
        take_path(tree, *spans(trace, r))
        slow.take_path(trace.blocks(r).tolist())
        same_shape(tree, slow)
        for operation, where, many in changes:
            path = trace.blocks(where % (r + 1)).tolist()
            if operation == SERVE and slow.node_of.keys() >= set(path):
                order = path[::-1] if deepest_first else path
                serve_spans(tree, *spans(trace, where % (r + 1)), int(deepest_first), many % 2)
                slow.serve(order, order if many % 2 else [])
            elif operation == ASIDE:
                set_spans_aside(tree, *spans(trace, where % (r + 1)))
                slow.set_aside(path)
            elif operation in (OFFER, EXPEL):
                fit = sorted(slow.resident - slow.aside - (slow.drawable if operation == OFFER else set()))
                begin = where % (len(fit) + 1)
                for block in fit[begin : begin + many][:: 1 if where % 2 else -1]:
                    (offer if operation == OFFER else expel)(tree, block)
                    (slow.offer if operation == OFFER else slow.expel)(block)
            same_shape(tree, slow)
            same_answers(tree, slow, deep_end)


def test_the_picture_is_so():
    requests = [[0, 1, 2, 3, 4], [0, 1, 2, 5, 6], [0, 1, 2, 5, 6, 7], [0, 1, 2, 3, 4, 8, 9]]
    trace = Trace.of_requests(requests)
    assert [trace.blocks(r).tolist() for r in range(4)] == requests
    tree = new_prefix_tree(10, 10, deep_end=False)
    for r in range(4):
        take_path(tree, *spans(trace, r))
        serve_spans(tree, *spans(trace, r), 1, 1)
    assert listed(tree) == [([0, 1, 2], -1), ([3, 4], 2), ([5, 6], 2), ([7], 6), ([8, 9], 4)]
    for block in (7, 6, 5):
        expel(tree, block)
    take_path(tree, *spans(trace, 2))
    assert listed(tree) == [([0, 1, 2], -1), ([3, 4], 2), ([5, 6, 7], 2), ([8, 9], 4)]
    empty = new_prefix_tree(10, 10, deep_end=False)
    take_path(empty, *spans(trace, 3))
    assert listed(empty) == [([0, 1, 2, 3, 4, 8, 9], -1)] and members(empty.starts) == [0, 8]


def test_a_stretch_that_was_forgotten_is_not_found_again():
    trace = Trace.of_requests([[1, 2, 3, 4], [1, 2, 3, 5, 6], [1, 2, 3]])
    tree = new_prefix_tree(trace.n_blocks, trace.n_blocks, deep_end=True)
    for r, stretches in ((0, 1), (1, 2), (2, 1)):  # the second path makes one node of 0 1 2 and 4 5
        take_path(tree, *spans(trace, r))
        serve_spans(tree, *spans(trace, r), 0, 1)
        assert listed(tree) == [(trace.blocks(r).tolist(), -1)] and len(members(tree.starts)) == stretches
        for block in members(tree.resident)[::-1]:
            expel(tree, block)


@pytest.mark.parametrize("deep_end", [False, True])
def test_of_two_equally_near_blocks_the_lower_rank_stands_for_a_node(deep_end):
    n = 10_003
    trace = Trace.of_requests([list(range(n)), [0, 1, 2]])
    tree = new_prefix_tree(n, n, deep_end)
    begin, end = (n - 1, 0) if deep_end else (0, n - 1)
    for r in (0, 1):
        take_path(tree, *spans(trace, r))
    assert [len(blocks) for blocks, _ in listed(tree)] == [n]  # a path that ends inside a node cuts nothing
    serve_spans(tree, *spans(trace, 0), 1, 0)
    for block in (begin, end):
        offer(tree, block)
    assert representative(tree, 0, n, 1) == representative(tree, 0, n, 0) == (begin, begin)
    assert representative(tree, 0, n + 1, 1) == (begin, begin)  # no deeper than the middle
    assert representative(tree, 0, n + 1, 0) == (end, end)
    for block in range(1, n - 1):
        expel(tree, block)
    assert [len(blocks) for blocks, _ in listed(tree)] == [n]
    for block in (begin, end):
        assert representative(tree, 0, 0, 0)[0] == block
        expel(tree, block)
    assert listed(tree) == []
