"""Qwen3-Coder-30B with blocks of 64 tokens, as PrefixSim's authors measured its prefill: 3472 + 32 p at position p."""

from __future__ import annotations

from hitcurve.costs.cost import Cost, CostModel

NAME = "qwen3coder30b_blksz_64"
MODEL = CostModel(NAME, "3472 + 32 p at position p", lambda: Cost(NAME, lambda position: 3472.0 + 32 * position))
