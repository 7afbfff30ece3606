"""Compiled, as plain Python, and compiled with bounds checks, everything gives the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.lru.random_traces import digest


def measured(**environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.lru.random_traces"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_as_plain_python():
    assert measured(NUMBA_DISABLE_JIT="1") == digest(36)


def test_with_bounds_checks(tmp_path):
    assert measured(NUMBA_BOUNDSCHECK="1", NUMBA_OPT="0", NUMBA_CACHE_DIR=str(tmp_path)) == digest(36)
