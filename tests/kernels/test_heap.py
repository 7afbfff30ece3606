"""The heap equals a sorted list, whatever stands behind whom."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.heap import clear, first, float_key, holds, listed, new_heap, push, push_near, remove

N = 12
PUSH, REMOVE, POP, CLEAR, PUSH_NEAR = range(5)
kinds = st.sampled_from([PUSH, PUSH_NEAR, REMOVE, POP] * 4 + [CLEAR])
operations = st.lists(st.tuples(kinds, st.integers(0, N - 1), st.integers(-3, 3)), max_size=80)


@entry
def operate(heap, operation, block, key, tie):
    """Carry out one operation if it is possible; return the block it popped, or -1."""
    if operation == PUSH and not holds(heap, block):
        push(heap, block, key, tie)
    if operation == PUSH_NEAR and not holds(heap, block):
        push_near(heap, block, key, tie)
    if operation == REMOVE and holds(heap, block):
        remove(heap, block)
    if operation == POP and heap.slots[0]:
        block = first(heap)
        remove(heap, block)
        return block
    if operation == CLEAR:
        clear(heap)
    return -1


@settings(max_examples=200, deadline=None)
@given(operations)
def test_equals_a_sorted_list(operations):
    heap, expected = new_heap(N, N), {}
    for tie, (operation, block, key) in enumerate(operations):
        popped = operate(heap, operation, block, key, tie)
        if operation in (PUSH, PUSH_NEAR):
            expected.setdefault(block, (key, tie, block))
        elif operation == REMOVE:
            expected.pop(block, None)
        elif operation == CLEAR:
            expected.clear()
        elif expected:
            least = min(expected.values())
            assert popped == least[2]
            del expected[popped]
        assert listed(heap) == sorted(expected.values())


def test_a_path_takes_one_slot():
    heap = new_heap(N, N)
    for block in range(N):
        operate(heap, PUSH, block, 100 + block, 0)
    assert heap.slots[0] == 1
    assert np.count_nonzero(heap.behind >= 0) == N - 1
    assert [operate(heap, POP, 0, 0, 0) for _ in range(N)] == list(range(N))


def test_a_path_with_falling_keys_takes_one_slot_too():
    heap = new_heap(N, N)
    for block in range(N):
        operate(heap, PUSH_NEAR, block, 100 - block, 0)
    assert heap.slots[0] == 1
    assert [operate(heap, POP, 0, 0, 0) for _ in range(N)] == list(reversed(range(N)))


@entry
def key_of(x):
    return float_key(x)


@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=9))
def test_keys_of_floats_order_as_the_floats_do(values):
    keys = [key_of(x) for x in values]
    for x, key in zip(values, keys, strict=True):
        for y, other in zip(values, keys, strict=True):
            assert (x < y) == (key < other) or x == y == 0
