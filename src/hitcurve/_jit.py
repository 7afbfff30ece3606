"""The only place that says ``njit``, and the stamp that makes stale machine code impossible.

Three decorators:

``helper``  inlined into whoever calls it; never compiled on its own.
``part``    compiled once for all that call it, kept on disk: for what is long, or called in several places.
``entry``   the same with a door to Python; runs without the GIL. Only an entry is called from Python.

numba stamps cached machine code with a digest of the function's *own* file.  An entry here takes in parts and helpers
of other files, so its stamp also takes in every file that they may live in, all of ``kernels/``, and what compiles them
(``_flatten.py``, this file).  Editing a kernel recompiles every entry, editing a policy that policy alone
(``tests/test_jit_cache.py``, in fresh processes).

Hence the rule, kept by ``tests/test_layers.py``: an entry calls parts and helpers of its own file and of ``kernels/``,
no others.
A policy file of a user's own may also use the Python files beside it: its stamp covers them all (``neighbours``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching, event, types
from numba.core.registry import CPUDispatcher

from hitcurve import _flatten

F = TypeVar("F", bound=Callable[..., Any])

_config: Any = numba.config  # its stubs know no setting
_njit: Any = numba.njit  # nor ``_nrt``

if _config.DISABLE_JIT:
    np.seterr(over="ignore")  # machine integers wrap silently, numpy's interpreted ones warn

_PACKAGE = Path(__file__).resolve().parent
_STAMPED: set[str] = set()


def interpreted() -> bool:
    """Whether everything runs as plain Python (NUMBA_DISABLE_JIT=1)."""
    return bool(_config.DISABLE_JIT)


@cache
def shared_digest() -> str:
    """Hex digest of all code that entries may inline and of what inlines it: ``kernels/``, ``_flatten``, this file."""
    digest = hashlib.sha256()
    for path in [Path(__file__), Path(_flatten.__file__), *sorted((_PACKAGE / "kernels").glob("*.py"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def neighbours(path: str | Path) -> list[Path]:
    """The Python files that ``path``, outside this package, may take code from: those of its folder and of packages in
    it (folders with an ``__init__.py``), sorted."""

    found: list[Path] = []
    folders = [Path(path).resolve().parent]
    for folder in folders:  # grows while it is walked
        found.extend(folder.glob("*.py"))
        packages = (init.parent.resolve() for init in folder.glob("*/__init__.py"))
        folders.extend(package for package in packages if package not in folders)
    return sorted(found)


def neighbours_digest(path: str | Path) -> str:
    """Hex digest of the names and contents of ``neighbours(path)``; empty for files of this package."""
    if _PACKAGE in Path(path).resolve().parents:
        return ""
    digest = hashlib.sha256()
    for file in neighbours(path):
        digest.update(str(file).encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


class _Stamped:
    """Mixed into numba's cache locators: for files with an ``entry``, the stamp covers ``shared_digest`` too."""

    def get_source_stamp(self) -> tuple[Any, ...]:
        own = super().get_source_stamp()  # type: ignore[misc]
        others = neighbours_digest(self._py_file)  # type: ignore[attr-defined]
        # numba's own index does not tell code with bounds checks from code without
        return own, shared_digest(), others, _config.BOUNDSCHECK

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if py_file in _STAMPED:
            return super().from_function(py_func, py_file)  # type: ignore[misc]
        return None  # not ours: numba goes on to its own locators


for _locator in (caching.UserWideCacheLocator, caching.InTreeCacheLocator, caching.UserProvidedCacheLocator):
    _stamped: Any = type(_locator.__name__, (_Stamped, _locator), {})
    caching.CacheImpl._locator_classes.insert(0, _stamped)


class _Index(caching.IndexDataCacheFile):
    """numba's index of an entry's machine code, that counts as empty where it cannot be read.

    It is pickled, and names the classes of arguments: numba itself stops with an AttributeError after a NamedTuple of a
    policy was renamed, before it has looked at the stamp.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:
            return {}

    def save(self, key: Any, data: Any) -> None:
        with suppress(OSError):  # on a full disk the code runs all the same, and is made again next time
            super().save(key, data)

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:
            return None


def plain(kind: Any) -> Any:
    """The type an entry is compiled for, given an argument's: whole numbers are int64, constants nothing special."""
    kind = types.unliteral(kind)
    return kind if kind == types.uint64 or not isinstance(kind, types.Integer) else types.int64


class _Entry(CPUDispatcher):  # type: ignore[misc]
    """numba's function with one version for all whole numbers, where numba would make one for each constant, each width
    and each mixture of them (push_front of runs: three in qdlp alone, 1.5 s each)."""

    def compile(self, signature: Any) -> Any:
        return super().compile(tuple(plain(kind) for kind in signature))


class _Part(_Entry):
    """Without the door to Python, a tenth of an entry's compile time and more where it takes a whole state."""

    def __call__(self, *arguments: Any) -> Any:
        if not hasattr(self, "_from_python"):
            self._from_python = _njit(nogil=True, _nrt=False)(self.py_func)
        return self._from_python(*arguments)


def helper(function: F) -> F:
    """Compile as part of every caller."""
    return _njit(inline="always")(function)  # type: ignore[no-any-return]


def entry(function: F) -> F:
    """Compile once per signature, cache on disk under the shared stamp, release the GIL while running."""
    return _compiled(function, _Entry)


def part(function: F) -> F:
    """``entry`` for what only machine code calls.  A test may call it: it is then compiled anew, in memory only."""
    return _compiled(function, _Part, no_cpython_wrapper=True)


def _compiled(function: F, kind: type, **options: bool) -> F:
    _STAMPED.add(function.__code__.co_filename)
    form = _njit(cache=True, nogil=True, _nrt=False, no_cfunc_wrapper=True, pipeline_class=_flatten.Compiler, **options)
    compiled = form(function)
    if not interpreted():
        compiled.__class__ = kind
        compiled._cache._cache_file.__class__ = _Index
    return compiled  # type: ignore[no-any-return]


@contextmanager
def compiling(announce: Callable[[], None]) -> Iterator[None]:
    """Call ``announce`` once if, inside the block, machine code is made instead of loaded."""

    class Listener(event.Listener):
        announced = False

        def on_start(self, happening: event.Event) -> None:
            if not self.announced:
                self.announced = True
                announce()

        def on_end(self, happening: event.Event) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield
