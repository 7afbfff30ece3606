"""Bit sets and counter planes against Python sets and lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve._jit import entry
from hitcurve.kernels import bits, planes

N = 300

ranges = st.tuples(st.integers(0, N - 1), st.integers(0, N - 1)).map(lambda r: (min(r), max(r) + 1))


@entry
def apply_to_bits(words, operation, first, end):
    if operation == 0:
        bits.add_range(words, first, end)
    elif operation == 1:
        bits.discard_range(words, first, end)
    elif operation == 2:
        bits.add(words, first)
    else:
        bits.discard(words, first)


@entry
def ask_bits(words, first, end, answers):
    answers[0] = bits.has(words, first)
    answers[1] = bits.stretch_end(words, first, end, True)
    answers[2] = bits.stretch_end(words, first, end, False)
    answers[3] = bits.stretch_start(words, first, end, True)
    answers[4] = bits.stretch_start(words, first, end, False)
    answers[5] = bits.nearest_at_or_below(words, end - 1)
    answers[6] = bits.count_range(words, first, end)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), ranges), max_size=12), ranges)
def test_a_bit_set_is_a_set(operations, asked):
    words, expected = bits.new_bits(N), set()
    for operation, (first, end) in operations:
        apply_to_bits(words, operation, first, end)
        affected = set(range(first, end)) if operation < 2 else {first}
        expected = expected | affected if operation in (0, 2) else expected - affected
    assert bits.members(words) == sorted(expected)
    first, end = asked
    answers = np.empty(7, np.int64)
    ask_bits(words, first, end, answers)
    inside = [block in expected for block in range(first, end)]
    forward = [next((first + k for k, here in enumerate(inside) if here is not want), end) for want in (True, False)]
    inside.reverse()
    backward = [next((end - k for k, here in enumerate(inside) if here is not want), first) for want in (True, False)]
    below = max((b for b in expected if b < end), default=-1)
    assert answers.tolist() == [first in expected, *forward, *backward, below, len(expected & set(range(first, end)))]


@entry
def apply_to_planes(counters, operation, first, end, value):
    if operation == 0:
        planes.count_up(counters, first, end)
    elif operation == 1:
        planes.count_down(counters, first, end)
    elif operation == 2:
        planes.set_to(counters, first, end, value)
    else:
        planes.clamp(counters, first, end, 1)


@entry
def ask_planes(counters, first, end, threshold, answers):
    answers[0] = planes.level_end(counters, first, end, threshold, True)
    answers[1] = planes.level_end(counters, first, end, threshold, False)
    answers[2] = planes.level_start(counters, first, end, threshold, True)
    answers[3] = planes.level_start(counters, first, end, threshold, False)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(1, 3),
    st.lists(st.tuples(st.integers(0, 3), ranges, st.integers(0, 7)), max_size=12),
    ranges,
    st.integers(0, 9),
)
def test_planes_are_saturating_counters(width, operations, asked, threshold):
    counters, expected, top = planes.new_planes(N, width), [0] * N, 2**width - 1
    for operation, (first, end), value in operations:
        apply_to_planes(counters, operation, first, end, value)
        for block in range(first, end):
            now = expected[block]
            expected[block] = (min(now + 1, top), max(now - 1, 0), value & top, min(now, 1))[operation]
    read = sum(np.unpackbits(counters[k].view(np.uint8), bitorder="little")[:N].astype(int) << k for k in range(width))
    assert read.tolist() == expected
    first, end = asked
    answers = np.empty(4, np.int64)
    ask_planes(counters, first, end, threshold, answers)
    reached = [count >= threshold for count in expected[first:end]]
    forward = [next((first + k for k, here in enumerate(reached) if here is not want), end) for want in (True, False)]
    reached.reverse()
    backward = [next((end - k for k, here in enumerate(reached) if here is not want), first) for want in (True, False)]
    assert answers.tolist() == [*forward, *backward]
