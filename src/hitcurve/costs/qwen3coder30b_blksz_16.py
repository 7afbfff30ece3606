"""Qwen3-Coder-30B with blocks of 16 tokens, as PrefixSim's authors measured its prefill: 865 + 2 p at position p."""

from __future__ import annotations

from hitcurve.costs.cost import Cost, CostModel

NAME = "qwen3coder30b_blksz_16"
MODEL = CostModel(NAME, "865 + 2 p at position p", lambda: Cost(NAME, lambda position: 865.0 + 2 * position))
