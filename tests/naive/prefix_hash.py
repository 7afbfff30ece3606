"""The chained hash in plain integers, from its definition."""

from __future__ import annotations

WORD = 2**64


def prefix_hash(raw: list[int]) -> list[int]:
    keys, h = [], 0
    for value in raw:
        h ^= (value + 0x9E3779B97F4A7C15 + (h << 12) + (h >> 32)) % WORD
        keys.append(h - WORD if h >= WORD // 2 else h)
    return keys
