"""The only place that says ``njit``, and the stamp that makes stale machine code impossible.

Two decorators:

``helper``  inlined into whoever calls it; never compiled on its own.
``entry``   compiled once per signature, kept on disk, runs without the GIL. Only an entry is called from Python.

numba stamps cached machine code with a digest of the function's *own* file.  An entry here inlines helpers of other
files, so its stamp also takes in every file that helpers may live in: all of ``kernels/`` and this file.  Editing a
kernel recompiles every entry, editing a policy that policy alone (``tests/test_jit_cache.py``, in fresh processes).

Hence the rule, kept by ``tests/test_layers.py``: an entry calls helpers of its own file and of ``kernels/``, no others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import caching, event

F = TypeVar("F", bound=Callable[..., Any])

if numba.config.DISABLE_JIT:
    np.seterr(over="ignore")  # machine integers wrap silently, numpy's interpreted ones warn

_PACKAGE = Path(__file__).resolve().parent
_STAMPED: set[str] = set()


@cache
def shared_digest() -> str:
    """Hex digest of all code that entries may inline: this file and ``kernels/``."""
    digest = hashlib.sha256()
    for path in [Path(__file__), *sorted((_PACKAGE / "kernels").glob("*.py"))]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


class _Stamped:
    """Mixed into numba's cache locators: for files with an ``entry``, the stamp covers ``shared_digest`` too."""

    def get_source_stamp(self) -> tuple[Any, ...]:
        # numba's own index does not tell code with bounds checks from code without
        return super().get_source_stamp(), shared_digest(), numba.config.BOUNDSCHECK  # type: ignore[misc,attr-defined]

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if py_file in _STAMPED:
            return super().from_function(py_func, py_file)  # type: ignore[misc]
        return None  # not ours: numba goes on to its own locators


for _locator in (caching.UserWideCacheLocator, caching.InTreeCacheLocator, caching.UserProvidedCacheLocator):
    caching.CacheImpl._locator_classes.insert(0, type(_locator.__name__, (_Stamped, _locator), {}))


def helper(function: F) -> F:
    """Compile as part of every caller."""
    return numba.njit(inline="always")(function)


def entry(function: F) -> F:
    """Compile once per signature, cache on disk under the shared stamp, release the GIL while running."""
    _STAMPED.add(function.__code__.co_filename)
    return numba.njit(cache=True, nogil=True, _nrt=False)(function)


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
