"""Fixtures: the reference folder (absent from a public checkout), and JSON vectors from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("hitcurve", deadline=None)  # the first example may compile
settings.load_profile("hitcurve")

_SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference traces and vectors that stands beside the checkout of the project's own machines."""
    if not _SHARED.is_dir():
        pytest.skip("reference folder ../shared is absent (a public checkout has none)")
    return _SHARED


@pytest.fixture(scope="session")
def vectors(shared: Path) -> Callable[[str], Any]:
    """``vectors("golden")`` is the parsed ``vectors/golden.json``."""
    return lambda name: json.loads((shared / "vectors" / f"{name}.json").read_text())
