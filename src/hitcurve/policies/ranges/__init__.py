"""The fast forms of policies that keep blocks in queues: one file each, listed here and nowhere else.

``hitcurve/policies/<name>.py`` is the definition, block by block; docstring, parameters and name stand there.  A file
here does the same on runs of consecutive blocks, and equals it in every count (``docs/ranges.md``).
"""

from __future__ import annotations

from importlib import import_module

from hitcurve.policies.ranges.form import RangeForm

NAMES = ("lru", "fifo", "clock", "sieve", "slru", "twoq", "qdlp", "s3fifo", "lfu", "arc")


def range_form(name: str) -> RangeForm | None:
    """The fast form of the policy of that name, or None; imports its file alone."""
    return import_module(f"hitcurve.policies.ranges.{name}").RANGES if name in NAMES else None
