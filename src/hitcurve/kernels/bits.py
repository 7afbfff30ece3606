"""A set of dense block ids, one bit a block, 64 blocks a word; everything is done a word at a time.

    block      0 ........ 63 | 64 ...... 127 | 128 ...
    words[w]   bit b % 64 of word b // 64

Ranges are half open.  Cost of a range operation: O(words that the range touches).
"""

from __future__ import annotations

import numpy as np

from hitcurve._jit import helper, part


def new_bits(n_blocks: int) -> np.ndarray:
    """The empty set over blocks 0 .. n_blocks - 1: uint64 words, one to spare."""
    return np.zeros(n_blocks // 64 + 2, np.uint64)


def members(words: np.ndarray) -> list[int]:
    """The blocks in the set, ascending."""
    return np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little")).tolist()


@helper
def popcount(word):
    """Bits set in a uint64 (LLVM knows the idiom)."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@helper
def lowest(word):
    """Number of the lowest bit set in a word that is not 0."""
    return popcount((word & (~word + np.uint64(1))) - np.uint64(1))


@helper
def highest(word):
    """Number of the highest bit set in a word; -1 in 0."""
    word |= word >> np.uint64(1)
    word |= word >> np.uint64(2)
    word |= word >> np.uint64(4)
    word |= word >> np.uint64(8)
    word |= word >> np.uint64(16)
    word |= word >> np.uint64(32)
    return popcount(word) - 1


@helper
def from_bit(block):
    """Mask of the bits of ``block`` and above within its word."""
    return np.uint64(0xFFFFFFFFFFFFFFFF) << np.uint64(block & 63)


@helper
def upto_bit(block):
    """Mask of the bits of ``block`` and below within its word."""
    return np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(63 - (block & 63))


@helper
def has(words, block):
    return (words[block >> 6] >> np.uint64(block & 63)) & np.uint64(1) != 0


@helper
def add(words, block):
    words[block >> 6] |= np.uint64(1) << np.uint64(block & 63)


@helper
def discard(words, block):
    words[block >> 6] &= ~(np.uint64(1) << np.uint64(block & 63))


@part
def add_range(words, first, end):
    w, last = first >> 6, (end - 1) >> 6
    if w == last:
        words[w] |= from_bit(first) & upto_bit(end - 1)
    else:
        words[w] |= from_bit(first)
        for k in range(w + 1, last):
            words[k] = np.uint64(0xFFFFFFFFFFFFFFFF)
        words[last] |= upto_bit(end - 1)


@part
def discard_range(words, first, end):
    w, last = first >> 6, (end - 1) >> 6
    if w == last:
        words[w] &= ~(from_bit(first) & upto_bit(end - 1))
    else:
        words[w] &= ~from_bit(first)
        for k in range(w + 1, last):
            words[k] = np.uint64(0)
        words[last] &= ~upto_bit(end - 1)


@part
def stretch_end(words, first, end, present):
    """End of the stretch from ``first`` on that is all in the set (``present``) or all not; at most ``end``."""
    w = first >> 6
    other = (~words[w] if present else words[w]) & from_bit(first)
    last = (end - 1) >> 6
    while other == 0 and w < last:
        w += 1
        other = ~words[w] if present else words[w]
    return end if other == 0 else min(end, (w << 6) + lowest(other))


@part
def stretch_start(words, first, end, present):
    """Start of the stretch up to ``end`` that is all in the set (``present``) or all not; at least ``first``."""
    block = end - 1
    w = block >> 6
    other = (~words[w] if present else words[w]) & upto_bit(block)
    stop = first >> 6
    while other == 0 and w > stop:
        w -= 1
        other = ~words[w] if present else words[w]
    return first if other == 0 else max(first, (w << 6) + highest(other) + 1)


@part
def nearest_at_or_below(words, block):
    """Largest member <= block, or -1."""
    w = block >> 6
    found = words[w] & upto_bit(block)
    while found == 0 and w > 0:
        w -= 1
        found = words[w]
    return (w << 6) + highest(found)


@helper
def part_of_word(w, first, end):
    """Mask of the bits of word ``w`` that lie in the range, one of those that it touches."""
    return from_bit(max(first, w << 6)) & upto_bit(min(end - 1, (w << 6) + 63))


@part
def count_range(words, first, end):
    """Members in the range."""
    n = np.int64(0)
    for w in range(first >> 6, ((end - 1) >> 6) + 1):
        n += popcount(words[w] & part_of_word(w, first, end))
    return n
