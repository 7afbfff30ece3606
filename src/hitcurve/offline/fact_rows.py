"""FactRows: a batch of facts in columns, one row a request of one instance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.projection import alive_ends

Fact = list[tuple[int, int]] | list[tuple[int, int, int]]


@dataclass(frozen=True, repr=False)
class FactRows:
    """n rows with s pairs in all; row i has the pairs ``offsets[i]:offsets[i+1]``.

    ``trace_id``, ``instance_id``  list of str (n,)
    ``timestamp_ns``       int64 (n,)
    ``input_token_len``    int64 (n,), what hits in tokens are a share of
    ``block_size_tokens``  int64 (n,), tokens in a full block
    ``block_bytes``        int64 (n,), bytes of one full block
    ``in_bytes``           bool (n,), what the pairs of a row are, see ``first``
    ``offsets``            int64 (n + 1,)
    ``first``, ``second``  int64 (s,).  Segments (False): the blocks a segment's first block needs to be resident, and
                           its length in blocks, each needing one more.  Byte points (True): a capacity in bytes, and
                           the blocks that hit from there on; both ascend within a row.
    ``age_ns``             int64 (s,), time since they were last touched; None where nobody knows (a CSV file)
    ``ttl_ns``             int64 (n,), time to live of the row's instance, 2^63 - 1 for none; pairs are not cut at it.
                           None where there are no ages: they were cut before

    Ages rise along a row, so that those which a time to live leaves are the leading pairs of the row.  Where some fall
    (ids without a tree), a dead pair ends the row all the same.
    """

    trace_id: list[str]
    instance_id: list[str]
    timestamp_ns: np.ndarray
    input_token_len: np.ndarray
    block_size_tokens: np.ndarray
    block_bytes: np.ndarray
    in_bytes: np.ndarray
    offsets: np.ndarray
    first: np.ndarray
    second: np.ndarray
    age_ns: np.ndarray | None = None
    ttl_ns: np.ndarray | None = None

    def __post_init__(self) -> None:
        columns = (self.instance_id, self.timestamp_ns, self.input_token_len, self.block_size_tokens, self.block_bytes)
        lengths = {len(column) for column in (self.trace_id, *columns, self.in_bytes)} | {len(self.offsets) - 1}
        pairs = {len(self.first), len(self.second), int(self.offsets[-1])}
        if (self.age_ns is None) != (self.ttl_ns is None):
            raise BadParameter("facts have ages and lifetimes, or neither")
        if self.age_ns is not None and self.ttl_ns is not None:
            lengths |= {len(self.ttl_ns)}
            pairs |= {len(self.age_ns)}
        if len(lengths) > 1 or len(pairs) > 1:
            raise BadParameter(f"columns of facts must have one length, found {sorted(lengths)} and {sorted(pairs)}")

    def __len__(self) -> int:
        return len(self.trace_id)

    def __repr__(self) -> str:
        return f"<FactRows: {len(self):,} rows, {len(self.first):,} pairs>"

    def fact(self, row: int) -> Fact:
        """The pairs of one row, with their age where it is known."""
        own = slice(self.offsets[row], self.offsets[row + 1])
        columns = [self.first[own], self.second[own]] + ([] if self.age_ns is None else [self.age_ns[own]])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def ends(self, ttl_ns: int | None = None) -> np.ndarray:
        """int64 (n,): where the pairs of each row end that ``ttl_ns`` (default: each row's own) leaves alive.

        Without ages: where all end, and BadParameter if a time to live is asked of them.
        """
        if self.age_ns is None or self.ttl_ns is None:
            if ttl_ns is not None:
                raise BadParameter("these facts have no ages: no time to live can be asked of them")
            return self.offsets[1:]
        return alive_ends(self.offsets, self.age_ns, self.ttl_ns if ttl_ns is None else ttl_ns)

    def rows(self, begin: int, end: int) -> FactRows:
        """The rows ``begin:end``; arrays are views."""
        own = slice(self.offsets[begin], self.offsets[end])
        return FactRows(
            self.trace_id[begin:end],
            self.instance_id[begin:end],
            self.timestamp_ns[begin:end],
            self.input_token_len[begin:end],
            self.block_size_tokens[begin:end],
            self.block_bytes[begin:end],
            self.in_bytes[begin:end],
            self.offsets[begin : end + 1] - self.offsets[begin],
            self.first[own],
            self.second[own],
            None if self.age_ns is None else self.age_ns[own],
            None if self.ttl_ns is None else self.ttl_ns[begin:end],
        )

    def pieces(self, most: int) -> Iterator[FactRows]:
        """The rows, in order, in parts of at most so many rows and pairs together (or one row)."""
        size = self.offsets + np.arange(len(self) + 1)
        begin = 0
        while begin < len(self):
            end = max(int(np.searchsorted(size, size[begin] + most, side="right")) - 1, begin + 1)
            yield self.rows(begin, end)
            begin = end
