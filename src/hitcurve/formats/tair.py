"""Tair's optimizer trace rows: what LiteHit reads, one JSON object an event."""

from __future__ import annotations

from hitcurve.formats.tair_rows import TairRows, tair_rows

__all__ = ["TairRows", "tair_rows"]
