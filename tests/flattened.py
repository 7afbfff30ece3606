"""Entries that call helpers in many ways; ``test_flatten.py`` runs them compiled and as plain Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve import _jit
from hitcurve._jit import entry, helper
from hitcurve.kernels import rng


class Inner(NamedTuple):
    values: np.ndarray
    factor: int


class Outer(NamedTuple):
    inner: Inner
    other: Inner
    out: np.ndarray


@helper
def clamped(x, lowest, highest=50):
    """Several returns, a default."""
    if x < lowest:
        return lowest
    if x > highest:
        return highest
    return x


@helper
def doubled(x):
    return clamped(clamped(x, 0, 9) * 2, 1)


@helper
def halved(n):
    """Assigns its own parameter, which is the caller's variable."""
    turns = 0
    while n > 1:
        n //= 2
        turns += 1
    return turns


@helper
def swapped(a, b):
    return b, a


@helper
def mean_or(values, default):
    total = 0.0
    for x in values:
        if x < 0:
            return default
        total += x
    return total / len(values) if len(values) else default


@helper
def each(outer, hook, done=None):
    """Calls what it is given, and leaves its loop early."""
    for i in range(len(outer.inner.values)):
        value = hook(outer, i)
        if value == 7:
            break
        outer.out[i] = value
    else:
        if done is not None:
            done(outer)
        return True
    return False


@helper
def scaled(outer, i):
    inner = outer.inner
    return inner.values[i] * inner.factor


@helper
def mark_end(outer):
    outer.out[-1] = clamped(outer.other.factor, 3)


@entry
def returns(a, b):
    n = a
    turns = halved(n)
    a, b = swapped(a, b)
    b = clamped(b, a)
    b = clamped(highest=b, lowest=-5, x=turns + clamped(n, 2))
    return n, a, b, turns, doubled(a) + doubled(b)


@entry
def hooks(outer):
    return each(outer, scaled), each(outer, scaled, mark_end), each(outer, done=mark_end, hook=scaled)


@entry
def either(outer, first):
    """A NamedTuple that is one of two, and one that is assigned in a loop."""
    chosen = outer.inner if first else outer.other
    total = np.int64(0)
    for x in chosen.values:
        total += x * chosen.factor
    current = outer.inner
    for _ in range(3):
        total = 2 * total + current.factor
        current = outer.other if current.factor < 3 else outer.inner
    outer = Outer(outer.other, outer.inner, outer.out)
    return total, outer.inner.factor, mean_or(outer.other.values, -1.0)


@entry
def drawn(state, n):
    """Helpers that are named with their module."""
    return rng.below(state, n), rng.uniform(state)


if not _jit.interpreted():

    @helper
    def endless(x):
        return endless(x - 1) if x else 0

    @entry
    def recursive(x):
        return endless(x)
