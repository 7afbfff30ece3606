"""Exact LRU: facts from one replay, hits at any capacity and time to live projected after the fact."""

from hitcurve.lru.facts import Facts
from hitcurve.lru.replay import lru_facts

__all__ = ["Facts", "lru_facts"]
