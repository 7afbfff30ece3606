"""An instance: a model deployment whose requests share one cache.  In a run it has one lane."""

from __future__ import annotations

from dataclasses import dataclass

from hitcurve.errors import BadParameter


@dataclass(frozen=True)
class Instance:
    """What a lane has to know.

    ``instance_id``  its name in facts
    ``block_size``   tokens of a full block, a multiple of the trace's
    ``block_bytes``  bytes of a full block
    ``ttl_ns``       time to live of a block since its last touch, None: no limit
    ``prefix_hash``  keys in the trace name single blocks: they are chained first
    ``linear_bytes`` bytes of one linear attention (Mamba) state; 0: the model has full attention only
    ``step_blocks``  blocks from one state to the next along a request (one more stands at its end)
    """

    instance_id: str
    block_size: int
    block_bytes: int
    ttl_ns: int | None = None
    prefix_hash: bool = False
    linear_bytes: int = 0
    step_blocks: int = 0

    def __post_init__(self) -> None:
        for name in ("block_size", "block_bytes"):
            if not 1 <= getattr(self, name) < 2**63:
                raise BadParameter(f"{name}: wanted 1 .. 2**63 - 1, found {getattr(self, name)}")
        if self.ttl_ns is not None and not 1 <= self.ttl_ns < 2**63:
            raise BadParameter(f"ttl_ns: wanted 1 .. 2**63 - 1, or None for no limit, found {self.ttl_ns}")
        if (
            not 0 <= self.linear_bytes < 2**63
            or self.step_blocks < 0
            or (self.linear_bytes > 0) != (self.step_blocks > 0)
        ):
            raise BadParameter("linear_bytes, step_blocks: wanted both above 0, or both 0 for full attention only")
