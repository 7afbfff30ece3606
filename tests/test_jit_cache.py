"""Stale machine code is impossible: what is edited is compiled again, and nothing else; seen in fresh processes.

The package is copied, so that its files can be edited, with a small entry beside it that inlines a kernel.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hitcurve
from hitcurve._jit import entry, interpreted
from hitcurve.kernels.bits import add_range, members, new_bits

ENTRY = """
from hitcurve._jit import entry
from hitcurve.kernels.rng import below

@entry
def draw(state, out):
    out[0] = below(state, 1000) + 5000
"""

RUN = """
import json
import numpy as np
from hitcurve.kernels.rng import seeded
from hitcurve.small import draw
from hitcurve.trace.prefix_hash import coarsen, prefix_hash

out = np.zeros(1, np.int64)
draw(seeded(1), out)
prefix_hash([1, 2, 3])
compiled = {f.__name__: sum(f.stats.cache_misses.values()) for f in (draw, coarsen)}
loaded = {f.__name__: sum(f.stats.cache_hits.values()) for f in (draw, coarsen)}
print(json.dumps([compiled, loaded, int(out[0])]))
"""


class Copy:
    """A copy of the package with a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "site"
        ignored = shutil.ignore_patterns(
            "__pycache__", "data", "cli", "report", "formats", "policies", "simulation", "lru"
        )
        shutil.copytree(Path(hitcurve.__file__).parent, self.site / "hitcurve", ignore=ignored)
        (self.site / "hitcurve" / "small.py").write_text(ENTRY)
        off = ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK", "PYTHONPATH")
        environment = {name: value for name, value in os.environ.items() if name not in off}
        self.environment = {
            **environment,
            "NUMBA_CACHE_DIR": str(folder / "cache"),
            "PYTHONPATH": str(self.site),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.site / "hitcurve" / file
        text = path.read_text()
        assert text.count(old) >= 1
        path.write_text(text.replace(old, new))

    def run(self, **environment: str) -> tuple[set[str], set[str], int]:
        """In a fresh process: which entries were compiled, which were loaded, and what was drawn."""
        done = subprocess.run(
            [sys.executable, "-c", RUN],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        compiled, loaded, drawn = json.loads(done.stdout)
        return {n for n, k in compiled.items() if k}, {n for n, k in loaded.items() if k}, drawn


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_what_is_edited_is_compiled_again_and_nothing_else(copy: Copy) -> None:
    both, none = {"draw", "coarsen"}, set()
    compiled, loaded, first = copy.run()
    assert (compiled, loaded) == (both, none)
    assert copy.run() == (none, both, first)

    copy.edit("errors.py", "A traceback is a bug", "A traceback is a fault")
    assert copy.run() == (none, both, first)

    copy.edit("small.py", "5000", "7000")
    assert copy.run() == ({"draw"}, {"coarsen"}, first + 2000)

    copy.edit("kernels/rng.py", "0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17")
    compiled, loaded, drawn = copy.run()
    assert (compiled, loaded) == (both, none)
    assert drawn != first + 2000

    copy.edit("_flatten.py", "MOST_HELPERS = 10_000", "MOST_HELPERS = 9_000")
    assert copy.run() == (both, none, drawn)

    compiled, loaded, checked = copy.run(NUMBA_BOUNDSCHECK="1")  # other machine code, although no file changed
    assert (compiled, loaded, checked) == (both, none, drawn)


@entry
def add_in_three_ways(words, blocks):
    add_range(words, blocks[0], blocks[1])
    add_range(words, 70, np.uint8(72))
    add_range(words, len(blocks), 4)


@pytest.mark.skipif(interpreted(), reason="nothing is compiled")
def test_one_version_serves_whole_numbers_of_any_width_and_constants() -> None:
    words = new_bits(100)
    add_in_three_ways(words, np.array([10, 12], np.int32))
    assert members(words) == [2, 3, 10, 11, 70, 71]
    assert len(add_range.signatures) == 1


def test_a_part_can_be_called_from_python() -> None:
    words = new_bits(100)
    add_range(words, 60, 66)
    assert members(words) == list(range(60, 66))
