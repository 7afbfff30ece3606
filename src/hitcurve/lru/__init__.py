"""Exact LRU: facts from one replay, hits at any capacity and time to live projected after the fact."""

from hitcurve.lru.facts import Facts
from hitcurve.lru.hybrid_facts import HybridFacts
from hitcurve.lru.hybrid_replay import hybrid_facts
from hitcurve.lru.projection import HitCurve, whole_blocks
from hitcurve.lru.replay import lru_facts
from hitcurve.lru.stack import LruStack

__all__ = ["Facts", "HitCurve", "HybridFacts", "LruStack", "hybrid_facts", "lru_facts", "whole_blocks"]
