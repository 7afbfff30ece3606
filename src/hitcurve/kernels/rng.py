"""Random numbers that are the same on every machine: splitmix64, its state a one-element uint64 array.

Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.  One addition and two multiplications
a draw, period 2**64, every seed is good.
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part

GOLDEN = 0x9E3779B97F4A7C15  # from one state to the next
LOW = np.uint64(0xFFFFFFFF)


def seeded(seed: int) -> np.ndarray:
    """The state, uint64 (1,), for any integer seed (taken modulo 2**64)."""
    return np.array([seed % 2**64], np.uint64)


@helper
def mixed(z):
    """A uint64 whose every bit depends on all bits of z, a uint64; one to one.  The output of a state z."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@helper
def next_u64(state):
    """The next 64 random bits, uint64."""
    state[0] += np.uint64(GOLDEN)
    return mixed(state[0])


@helper
def below(state, n):
    """A whole number in 0 .. n - 1, int64, for 1 <= n < 2**32: the high word of the 96-bit product ``bits * n``.

    No division and no rejection; a number's probability is off by less than 2**-64 (Lemire, "Fast random integer
    generation in an interval", 2019, without its last step).
    """
    bits, n64 = next_u64(state), np.uint64(n)
    low = (bits & LOW) * n64 >> np.uint64(32)
    return np.int64((bits >> np.uint64(32)) * n64 + low >> np.uint64(32))


@part
def many_below(state, n, found):
    """Fill ``found``, of even length, with whole numbers in 0 .. n - 1, for 1 <= n < 2**32, two of each 64 random bits.

    A number's probability is off by less than 2**-32.  No draw waits for another.
    """
    for i in range(len(found) // 2):
        bits = mixed(state[0] + np.uint64(i + 1) * np.uint64(GOLDEN))
        found[2 * i] = (bits & LOW) * np.uint64(n) >> np.uint64(32)
        found[2 * i + 1] = (bits >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)
    state[0] += np.uint64(len(found) // 2) * np.uint64(GOLDEN)


@helper
def uniform(state):
    """A float64 in [0, 1): the upper 53 bits, times 2**-53."""
    return np.float64(next_u64(state) >> np.uint64(11)) * 2.0**-53
