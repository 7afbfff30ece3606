"""The answer first: the smallest cache that reaches a share of hits, or that none does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hitcurve.lru.hits import Curve
from hitcurve.wording import count, seconds, share, size


@dataclass(frozen=True)
class Answer:
    """``capacity_blocks`` is the smallest that reaches ``target``, None where no cache does.

    ``ceiling`` is the share that an infinite cache reaches under the same TTL.
    """

    target: Fraction
    ttl_seconds: float | None
    capacity_blocks: int | None
    ceiling: Fraction

    def as_dict(self, block_bytes: int | None) -> dict[str, Any]:
        """Ready for JSON."""
        blocks = self.capacity_blocks
        return {
            "target": float(self.target),
            "ttl_seconds": self.ttl_seconds,
            "reachable": blocks is not None,
            "capacity_blocks": blocks,
            "capacity_bytes": blocks * block_bytes if blocks is not None and block_bytes else None,
            "ceiling": float(self.ceiling),
        }


def answer(
    targets: Sequence[Fraction], curve: Curve, total: int, unit: int = 1, ttl: float | None = None
) -> list[Answer]:
    """For each target, from a curve whose hits are worth ``unit`` each, of ``total``.  In whole numbers, exactly."""
    ceiling = Fraction(curve.most * unit, max(total, 1))
    return [Answer(t, ttl, curve.smallest(math.ceil(t * max(total, 1) / unit)), ceiling) for t in targets]


def usual_targets(ceiling: float) -> list[Fraction]:
    """Where nobody named a target: the last round figure below the ceiling, and the first above it."""
    if ceiling >= 0.9:
        return [Fraction(9, 10), Fraction(95, 100) if ceiling < 0.99 else Fraction(99, 100)]
    step = 10 if ceiling >= 0.1 else 100
    below = int(ceiling * step + 1e-9)
    return [Fraction(n, step) for n in (below, below + 1) if n]


def sentence(answers: Sequence[Answer], of: str, said: Callable[[int], str]) -> str:
    """One line for the answers under one TTL.  ``said``: how a capacity is told.

    >>> ceiling = Fraction(885, 1000)
    >>> both = [Answer(Fraction(4, 5), None, 4096, ceiling), Answer(Fraction(9, 10), None, None, ceiling)]
    >>> sentence(both, "tokens", lambda blocks: room(blocks, block_bytes=2**20))
    '80 % of tokens needs 4 GiB (4,096 blocks); 90 % is out of reach (ceiling 88.5 %)'
    """
    parts, named = [], False
    for a in sorted(answers, key=lambda a: a.target):
        subject = share(float(a.target)) + ("" if named else f" of {of}")
        if a.capacity_blocks is None:
            parts.append(f"{subject} is out of reach (ceiling {share(float(a.ceiling))})")
        else:
            parts.append(f"{subject} needs {said(a.capacity_blocks)}")
        named = True
    ttl = answers[0].ttl_seconds if answers else None
    return ("" if ttl is None else f"TTL {seconds(ttl)}: ") + "; ".join(parts)


def room(blocks: int, block_bytes: int | None = None, block_size: int | None = None) -> str:
    """A capacity for people: bytes where known, else tokens, and blocks always.

    >>> room(1000, block_size=16), room(1)
    ('1,000 blocks (16,000 tokens)', '1 block')
    """
    text = f"{count(blocks)} block{'' if blocks == 1 else 's'}"
    if block_bytes:
        return f"{size(blocks * block_bytes)} ({text})"
    return f"{text} ({count(blocks * block_size)} tokens)" if block_size else text
