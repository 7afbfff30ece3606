"""A capacity as it was asked for: in blocks, or in bytes."""

from __future__ import annotations

from typing import NamedTuple


class Capacity(NamedTuple):
    """``blocks`` or ``bytes``; both None is infinite.

    >>> Capacity(bytes=10_000).in_blocks(4096), Capacity(blocks=7).in_blocks(None), Capacity().in_blocks(None)
    (2, 7, None)
    """

    blocks: int | None = None
    bytes: int | None = None

    def in_blocks(self, block_bytes: int | None) -> int | None:
        """Whole blocks, None for infinite.  BadParameter for bytes without ``block_bytes``."""
        if self.bytes is None:
            return self.blocks
        from hitcurve.errors import BadParameter
        from hitcurve.projection import whole_blocks

        if block_bytes is None:
            raise BadParameter("a capacity in bytes needs --block-bytes or --bytes-per-token")
        return whole_blocks(self.bytes, block_bytes)

    def in_bytes(self, block_bytes: int | None) -> int | None:
        """The bytes that were asked for, or those of the blocks; None where nobody knows."""
        return self.blocks * block_bytes if self.blocks is not None and block_bytes else self.bytes
