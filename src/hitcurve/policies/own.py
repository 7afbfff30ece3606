"""A user's own policy file: load it, and say in one line what is wrong with it.

Files beside it may be imported as if its folder were on the path.  What a policy is compiled from must be seen by the
stamp of its machine code, or an edit would go unnoticed; so helpers may come from the file itself, from the files
beside it (``_jit.neighbours``) and from ``hitcurve.policy_kit``, and from nowhere else.
"""

from __future__ import annotations

import dis
import hashlib
import importlib
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher

from hitcurve._jit import interpreted, neighbours, neighbours_digest
from hitcurve.errors import BadParameter, shown
from hitcurve.policies.policy import Policy

_KERNELS = Path(__file__).resolve().parents[1] / "kernels"
_loaded: dict[Path, tuple[str, Policy]] = {}
_brought: set[str] = set()  # names of modules that were imported from beside a policy file


def own_policy(path: str, taken: tuple[str, ...]) -> Policy:
    """The ``POLICY`` of the Python file at ``path``; loaded again when it or a file beside it was edited.

    ``taken``: names it must not have.  BadParameter for everything that is wrong with the file.
    """
    file = Path(path).expanduser().resolve()
    try:
        source = file.read_bytes()
        digest = neighbours_digest(file)
    except OSError as error:
        raise BadParameter(f"{path}: {error.strerror or error}") from None
    known = _loaded.get(file)
    if known is None or known[0] != digest:
        known = _loaded[file] = digest, _load(path, file, source, taken)
    return known[1]


def _load(path: str, file: Path, source: bytes, taken: tuple[str, ...]) -> Policy:
    try:
        code = compile(source, str(file), "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise BadParameter(f"{path}{f':{line}' if line else ''}: {getattr(error, 'msg', error)}") from None
    # One name for one path, whatever the content: numba's index names the classes of the state by it.
    module = ModuleType(f"hitcurve_policy_{hashlib.sha256(str(file).encode()).hexdigest()[:16]}")
    module.__file__ = str(file)
    with _importable(file) as fresh:
        sys.modules[module.__name__] = module
        _execute(path, code, module)
        sources = {Path(p).resolve() for p in (file, *neighbours(file))}
        namespaces = [vars(module), *(vars(sys.modules[name]) for name in fresh())]
    for namespace in namespaces:
        _refuse_unseen(path, namespace, sources)
    return _valid(path, vars(module), taken)


@contextmanager
def _importable(file: Path) -> Iterator[Any]:
    """Inside, files beside ``file`` can be imported, and are read anew.  Yields a function: names imported so far."""
    folder = str(file.parent)
    beside = {str(p) for p in neighbours(file)}
    for name, module in list(sys.modules.items()):
        if name in _brought or (name != "__main__" and getattr(module, "__file__", None) in beside):
            del sys.modules[name]
    before = set(sys.modules)
    importlib.invalidate_caches()
    sys.path.insert(0, folder)

    def fresh() -> list[str]:
        return [name for name in sys.modules if name not in before and _file(name) in beside]

    try:
        yield fresh
    finally:
        sys.path.remove(folder)
        _brought.update(name for name in fresh() if not name.startswith("hitcurve_policy_"))


def _file(name: str) -> str | None:
    return getattr(sys.modules[name], "__file__", None)


def _execute(path: str, code: CodeType, module: ModuleType) -> None:
    try:
        exec(code, vars(module))
    except (Exception, SystemExit) as error:
        lines = [
            place.lineno for place in traceback.extract_tb(error.__traceback__) if place.filename == module.__file__
        ]
        said = " ".join(str(error).split())
        raise BadParameter(f"{path}:{lines[-1] if lines else 1}: {type(error).__name__}: {said}") from None


def _refuse_unseen(path: str, namespace: dict[str, Any], sources: set[Path]) -> None:
    """Compiled functions must come from files whose edits the stamp sees."""
    for name, value in namespace.items():
        function = getattr(value, "py_func", value) if isinstance(value, Dispatcher) else None
        if function is None:
            continue
        origin = Path(function.__code__.co_filename).resolve()
        if origin not in sources and _KERNELS not in origin.parents:
            raise BadParameter(
                f"{path}: {name} comes from {origin}, whose edits would go unnoticed; copy it into a file beside yours"
            )


def _valid(path: str, names: dict[str, Any], taken: tuple[str, ...]) -> Policy:
    policy = names.get("POLICY")
    if policy is None:
        raise BadParameter(f"{path}: defines no POLICY (wanted POLICY = Policy(...), see docs/add-a-policy.md)")
    if not isinstance(policy, Policy):
        raise BadParameter(f"{path}: POLICY: wanted a Policy, found {shown(policy)}")
    if not isinstance(policy.name, str) or not policy.name or set(policy.name) & set(" ,./\\=\n\t"):
        raise BadParameter(f"{path}: POLICY.name: wanted a word, found {shown(policy.name)}")
    if policy.name in taken:
        raise BadParameter(f"{path}: POLICY.name: {policy.name!r} is the name of a policy of hitcurve; take another")
    replay = getattr(policy.replay, "py_func", policy.replay)
    if not isinstance(replay, FunctionType) or not (interpreted() or isinstance(policy.replay, Dispatcher)):
        raise BadParameter(f"{path}: POLICY.replay: wanted a function under @entry, found {shown(policy.replay)}")
    for name in _globals_of(replay):
        if name not in names:
            raise BadParameter(f"{path}: replay needs {name}, which the file does not define")
        if isinstance(names[name], FunctionType) and not interpreted():
            raise BadParameter(f"{path}: {name} is called from compiled code: put @helper above it")
    return policy


def _globals_of(function: FunctionType) -> list[str]:
    builtins = function.__builtins__  # type: ignore[attr-defined]
    loads = (step.argval for step in dis.get_instructions(function) if step.opname == "LOAD_GLOBAL")
    return [name for name in loads if name not in builtins]
