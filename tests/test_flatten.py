"""Flattened functions do what Python does with the functions that they were made from."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core import compiler, ir
from numba.core.errors import UnsupportedError

from hitcurve import _flatten, _jit
from hitcurve.kernels.rng import seeded
from tests import flattened as compiled
from tests.naive.rng import Twin

SMALL = st.integers(-20, 70)


def _plain() -> ModuleType:
    """The same functions, not compiled."""
    spec = importlib.util.spec_from_file_location("plain_flattened", Path(compiled.__file__))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("entry", "helper"):
            patch.setattr(_jit, name, lambda function: function)
        spec.loader.exec_module(module)
    return module


plain = _plain()


def _outer(module: ModuleType, values: list[int], others: list[int], factor: int) -> tuple:
    out = np.full(len(values) + 1, -1, np.int64)
    inner = module.Inner(np.array(values, np.int64), factor)
    return module.Outer(inner, module.Inner(np.array(others, np.int64), 9 - factor), out)


@given(SMALL, SMALL)
def test_returns_defaults_keywords_and_parameters_assigned(a: int, b: int) -> None:
    assert compiled.returns(a, b) == plain.returns(a, b)


@given(st.lists(st.integers(-9, 9), max_size=6), st.lists(st.integers(-2, 9), max_size=4), st.integers(0, 9))
def test_hooks_and_fields_of_fields(values: list[int], others: list[int], factor: int) -> None:
    ours, twin = _outer(compiled, values, others, factor), _outer(plain, values, others, factor)
    assert compiled.hooks(ours) == plain.hooks(twin)
    assert ours.out.tolist() == twin.out.tolist()


@given(
    st.lists(st.integers(-1, 9), max_size=6), st.lists(st.integers(-1, 9), max_size=4), st.integers(0, 9), st.booleans()
)
def test_tuples_that_are_assigned_more_than_once(
    values: list[int], others: list[int], factor: int, first: bool
) -> None:
    ours, twin = _outer(compiled, values, others, factor), _outer(plain, values, others, factor)
    assert compiled.either(ours, first) == plain.either(twin, first)


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**32 - 1))
def test_helpers_named_with_their_module(seed: int, n: int) -> None:
    twin = Twin(seed)
    assert compiled.drawn(seeded(seed), n) == (twin.below(n), twin.uniform())


@pytest.mark.skipif(_jit.interpreted(), reason="nothing is inlined in plain Python")
def test_a_helper_that_calls_itself_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_flatten, "MOST_HELPERS", 50)
    with pytest.raises(UnsupportedError, match="helper endless calls itself"):
        compiled.recursive(3)


@pytest.mark.skipif(_jit.interpreted(), reason="nothing is inlined in plain Python")
def test_no_call_and_no_second_read_is_left() -> None:
    """What makes compiling quick: each field is read once, and no helper is called."""
    compiled.hooks(_outer(compiled, [1], [2], 3))
    (signature,) = compiled.hooks.nopython_signatures
    form = compiler.run_frontend(compiled.hooks.py_func)
    _flatten.Flatten().run_pass(SimpleNamespace(func_ir=form, args=signature.args))
    lines = list(_flatten.assignments(form.blocks))
    assert not any(_flatten.called_helper(form, line) for line in lines)
    read = [line.value.attr for line in lines if isinstance(line.value, ir.Expr) and line.value.op == "getattr"]
    assert sorted(attr for attr in read if attr in compiled.Outer._fields) == ["inner", "other", "out"]
