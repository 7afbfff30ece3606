"""Exact LRU: facts from one replay, hits at any capacity and time to live projected after the fact."""

from hitcurve.lru.facts import Facts
from hitcurve.lru.hit_curve import HitCurve
from hitcurve.lru.hybrid import HybridFacts
from hitcurve.lru.hybrid_replay import hybrid_facts
from hitcurve.lru.hybrid_stack import HybridStack
from hitcurve.lru.interval_window import IntervalStatistics, IntervalWindow
from hitcurve.lru.mrc_window import MrcWindow
from hitcurve.lru.replay import lru_facts
from hitcurve.lru.reuse_intervals import ReuseIntervals, interval_samples
from hitcurve.lru.stack import LruStack
from hitcurve.projection import whole_blocks

__all__ = [
    "Facts",
    "HitCurve",
    "HybridFacts",
    "HybridStack",
    "IntervalStatistics",
    "IntervalWindow",
    "LruStack",
    "MrcWindow",
    "ReuseIntervals",
    "hybrid_facts",
    "interval_samples",
    "lru_facts",
    "whole_blocks",
]
