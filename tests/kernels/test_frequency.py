"""Frequency buckets equal a list of lists, and hand their memory back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels.frequency import enter, first_block, listed_by_frequency, new_buckets, next_block, rise, take

N, ROOM = 9, 6
operations = st.lists(st.tuples(st.sampled_from(["touch", "take"]), st.integers(0, N - 1)), max_size=120)


@entry
def put_in(buckets, block):
    enter(buckets, block)


@entry
def raise_one(buckets, block):
    rise(buckets, block)


@entry
def take_out(buckets, block):
    take(buckets, block)


@entry
def first_of(buckets):
    return first_block(buckets)


@entry
def after(buckets, block):
    return next_block(buckets, block)


@settings(max_examples=150, deadline=None)
@given(operations)
def test_equal_a_list_of_lists(operations):
    buckets, expected = new_buckets(N, ROOM), {}  # block -> (frequency, time of its last change)
    for now, (operation, block) in enumerate(operations):
        if operation == "take" and block in expected:
            take_out(buckets, block)
            del expected[block]
        elif operation == "touch" and block in expected:
            raise_one(buckets, block)
            expected[block] = (expected[block][0] + 1, now)
        elif operation == "touch" and len(expected) < ROOM:
            put_in(buckets, block)
            expected[block] = (1, now)
        order = sorted(expected, key=expected.get)
        assert [(f, b) for f, blocks in listed_by_frequency(buckets) for b in blocks] == [
            (expected[b][0], b) for b in order
        ]
        if order:
            assert first_of(buckets) == order[0]
            assert [after(buckets, b) for b in order] == [*order[1:], -1]
