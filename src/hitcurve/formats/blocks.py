"""Lengths against id counts: which block sizes fit, which one is meant, and the tail rule.

A row of ``L`` tokens and ``n`` ids fits a block size ``b`` exactly if n is floor(L / b) (full blocks only) or
ceil(L / b) (with an id for a partial last block).  The fitting sizes of a row are one range, so the sizes that fit all
rows are one range too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ANY = 2**40  # stands for "no upper bound": longer than any length


@dataclass(frozen=True)
class Fit:
    """``block_size`` (None: cannot be told), ``misfits`` bool (rows,), ``low`` .. ``high`` fit the others."""

    block_size: int | None
    misfits: np.ndarray
    low: int
    high: int


def ranges(tokens: np.ndarray, counts: np.ndarray, full: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """int64 (rows,) each: smallest and largest block size that fits; smallest > largest where none does.

    ``full``: ids are of full blocks only, so that just floor(L / b) fits.

    >>> [r.tolist() for r in ranges(np.array([33, 100, 5, 0]), np.array([3, 1, 0, 1]))]
    [[9, 51, 6, 1], [16, 1099511627776, 1099511627776, 0]]
    """
    low = tokens // (counts + 1) + 1
    low[tokens == 0] = 1
    if full:
        return low, np.where(counts >= 1, tokens // np.maximum(counts, 1), ANY)
    high = np.where(counts >= 2, -(-tokens // np.maximum(counts - 1, 1)) - 1, ANY)
    high[(tokens == 0) & (counts > 0)] = 0
    return low, high


def fit(tokens: np.ndarray, counts: np.ndarray, default: int | None, given: int | None, full: bool = False) -> Fit:
    """The block size: given, or the default if it fits as well as any, or the only fitting one (or power of two).

    Where no size fits all rows, the size that fits most of them counts, and the others are misfits.
    """
    low, high = ranges(tokens, counts, full)
    possible = low <= high
    lowest, highest = int(low.max(initial=1)), int(high.min(initial=ANY))
    if lowest > highest:
        lowest, highest = _most_common(low[possible], high[possible])
    size = given if given is not None else chosen(lowest, highest, default)
    misfits = (low > (lowest if size is None else size)) | (high < (highest if size is None else size))
    return Fit(size, misfits, lowest, highest)


def chosen(low: int, high: int, default: int | None) -> int | None:
    if default is not None and low <= default <= high:
        return default
    if low == high:
        return low
    powers = [1 << k for k in range(40) if low <= 1 << k <= high]
    return powers[0] if len(powers) == 1 else None


def _most_common(low: np.ndarray, high: np.ndarray) -> tuple[int, int]:
    """The range of sizes that lies in most of the ranges ``low[i] .. high[i]``."""
    if not len(low):
        return 1, ANY
    at = np.concatenate([low, high + 1])
    change = np.concatenate([np.ones(len(low), np.int64), -np.ones(len(high), np.int64)])
    order = np.lexsort((change, at))  # at one size, ends come before starts
    depth = np.cumsum(change[order])
    best = int(depth.argmax())
    return int(at[order[best]]), int(at[order[best + 1]]) - 1


def tail_rule(tokens: np.ndarray, counts: np.ndarray, block_size: int, default: str) -> str:
    """``ceil``, ``floor``, ``mixed``, or the default where every length is a whole number of blocks."""
    partial = tokens % block_size != 0
    with_id = partial & (counts * block_size > tokens)
    if not partial.any():
        return default
    if with_id.all(where=partial):
        return "ceil"
    return "mixed" if with_id.any() else "floor"


def expected(tokens: int, block_size: int, full: bool = False) -> str:
    """How many ids a row of that length carries, in words."""
    whole, rest = divmod(tokens, block_size)
    return f"{whole} or {whole + 1} ids" if rest and not full else f"{whole} ids"
