"""The projector has moved to ``hitcurve.projection``."""

from hitcurve.lru.hit_curve import HitCurve
from hitcurve.projection import *  # noqa: F403
from hitcurve.projection import INFINITE, alive, blocks_of, ttl_in_ns, whole_blocks

__all__ = ["INFINITE", "HitCurve", "alive", "blocks_of", "ttl_in_ns", "whole_blocks"]
