"""Slow twins of the policies, one file each, written from the papers; ``twin_named(name)`` makes one."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tests.naive.simulation import NaivePolicy


def twin_named(name: str, capacity: int, params: Any, seed: int) -> NaivePolicy:
    """``Twin(capacity, params, seed)`` of ``tests/naive/policies/<name>.py``."""
    return import_module(f"tests.naive.policies.{name.replace('-', '_')}").Twin(capacity, params, seed)
