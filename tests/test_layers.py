"""Data moves one way: what a module may import, read from the sources."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "hitcurve"

# A room imports itself and rooms of rows above its own, no others.
ROWS = [
    {"errors", "_version", "wording", "_flatten"},
    {"publish", "_jit"},
    {"kernels", "table", "projection"},
    {"trace"},
    {"formats", "lru", "costs", "policies"},
    {"policy_kit", "synth", "simulation", "statistics", "offline"},
    {"report"},
    {"cli"},
]
ROW_OF = {room: row for row, rooms in enumerate(ROWS) for room in rooms}
SOURCES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names of all imported modules, wherever in the file; ``from a import b`` gives ``a`` and ``a.b``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide where data comes from"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def test_every_room_has_a_row() -> None:
    assert {room_of(path) for path in SOURCES} - {"__init__", "__main__"} == set(ROW_OF)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    room = room_of(path)
    if room in ("__init__", "__main__"):
        return
    for name in imports(parsed(path)):
        parts = name.split(".")
        if parts[0] == "hitcurve" and len(parts) > 1 and parts[1] in ROW_OF and parts[1] != room:
            assert ROW_OF[parts[1]] < ROW_OF[room], f"{room} imports {name}"


# Who imports numba beside _jit.py, and what for.
ASKS_NUMBA = {
    "policies/own.py": ["numba.core.dispatcher"],  # whether a user's function is compiled at all
    "_flatten.py": ["numba.core"],  # a pass of its compiler
}


def test_only_jit_says_njit() -> None:
    for path in SOURCES:
        if path.name != "_jit.py":
            assert "njit" not in path.read_text(), path
            allowed = tuple(ASKS_NUMBA.get(path.relative_to(PACKAGE).as_posix(), []))
            asked = [name for name in imports(parsed(path)) if name.split(".")[0] == "numba"]
            assert all(name.startswith(allowed) for name in asked), path


def compiled(tree: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions of a file that are compiled: decorated with ``entry``, ``part`` or ``helper``."""
    return {
        node.name: node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Name) and d.id in ("entry", "part", "helper") for d in node.decorator_list)
    }


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_compiled_code_uses_its_own_file_and_kernels_alone(path: Path) -> None:
    """The stamp of cached machine code covers no other file (see ``_jit``)."""
    tree = parsed(path)
    foreign = {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("hitcurve")
        for alias in node.names
        if not str(node.module).startswith("hitcurve.kernels")
    }
    for name, function in compiled(tree).items():
        body = {n.id for statement in function.body for n in ast.walk(statement) if isinstance(n, ast.Name)}
        assert not body & set(foreign), f"{name} uses {body & set(foreign)}"


@pytest.mark.parametrize("statement", ["import hitcurve", "import hitcurve.cli", "import hitcurve; dir(hitcurve)"])
def test_the_start_is_light(statement: str) -> None:
    heavy = "numba numpy pyarrow pandas matplotlib polars duckdb"
    code = f"{statement}; import sys; print([m for m in {heavy.split()!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_help_does_not_import_numba() -> None:
    code = "import sys\nfrom hitcurve.cli import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
    code += "print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "False"
    assert "Usage" in run.stdout
