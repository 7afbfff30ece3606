"""Three rules of facts and projection, read from the sources.

The core sees no capacity, no time to live and no byte; one projector turns facts into hits; bytes become blocks there
alone, by one floor division.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hitcurve

PACKAGE = Path(hitcurve.__file__).parent
LEVELS = ("run_level.py", "block_level.py", "hybrid_run_level.py", "hybrid_block_level.py")
CORE = [*(PACKAGE / "lru" / name for name in LEVELS), PACKAGE / "kernels" / "envelope.py"]
PROJECTOR = PACKAGE / "projection.py"
FOREIGN = ("capacity", "ttl", "bytes")


def names(tree: ast.AST) -> set[str]:
    """Every name that the code uses or defines."""
    found: set[str] = set()
    for node in ast.walk(tree):
        found |= {value for value in (getattr(node, field, None) for field in ("id", "arg", "attr", "name")) if value}
    return found


@pytest.mark.parametrize("path", CORE, ids=lambda path: path.name)
def test_the_core_knows_neither_capacity_nor_ttl_nor_bytes(path):
    tree = ast.parse(path.read_text())
    assert not [name for name in names(tree) for word in FOREIGN if word in name.lower()]
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not any("projection" in str(module) for module in modules)


def divides_bytes(path: Path) -> bool:
    return any(
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv) and "block_bytes" in names(node.right)
        for node in ast.walk(ast.parse(path.read_text()))
    )


def test_bytes_become_blocks_in_the_projector_alone():
    assert [path for path in PACKAGE.rglob("*.py") if divides_bytes(path)] == [PROJECTOR]


def test_thresholds_meet_capacities_in_the_projector_alone():
    """Nobody else compares with, or calculates from, the column ``start`` of facts and a capacity."""
    for path in PACKAGE.rglob("*.py"):
        if path == PROJECTOR:
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Compare, ast.BinOp)):
                used = names(node)
                assert not ("start" in used and used & {"capacity", "capacities", "blocks_of"}), f"{path}:{node.lineno}"
