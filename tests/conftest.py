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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of one policy run in one worker, which compiles it once; two would both do so at the same time."""
    for item in items:
        name = item.callspec.params.get("name") if hasattr(item, "callspec") else None
        if isinstance(name, str) and item.path.parent.name in ("policies", "simulation"):
            item.add_marker(pytest.mark.xdist_group(f"policy {name}"))


_SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference traces and vectors that may stand beside the checkout."""
    if not _SHARED.is_dir():
        pytest.skip("reference folder ../shared is absent (a public checkout has none)")
    return _SHARED


@pytest.fixture(scope="session")
def vectors(shared: Path) -> Callable[[str], Any]:
    """``vectors("golden")`` is the parsed ``vectors/golden.json``."""
    return lambda name: json.loads((shared / "vectors" / f"{name}.json").read_text())


@pytest.fixture(scope="session")
def litehit(vectors: Callable[[str], Any]) -> Callable[[str], list[Any]]:
    """``litehit("csv")``: LiteHit's vectors of that kind, at least one."""

    def of_kind(kind: str) -> list[Any]:
        found = [vector for vector in vectors("litehit") if vector["kind"] == kind]
        assert found, kind
        return found

    return of_kind
