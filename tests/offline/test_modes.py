"""Compiled, as plain Python, and compiled with bounds checks, facts files are written and read the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.offline.csv_digest import digest


@pytest.mark.parametrize("mode", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_every_mode_gives_the_same(mode, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.offline.csv_digest"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, mode: "1", "NUMBA_OPT": "0", "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest()
