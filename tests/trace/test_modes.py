"""The kernels of the trace give the same interpreted, compiled, and compiled with bounds checks."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from hitcurve.trace import Definition, Trace, derived
from hitcurve.trace.interning import Interner
from hitcurve.trace.normalize import normalize_requests
from hitcurve.trace.prefix_hash import prefix_hash
from hitcurve.trace.transforms import merge, reblock, window
from tests.naive import derived as naive_derived
from tests.naive import interning as naive_interning
from tests.naive import prefix_hash as naive_hash
from tests.naive import transforms as naive_transforms

ROOT = Path(__file__).resolve().parents[2]


def check(cases: int) -> None:
    """Random traces of 30 requests through every kernel of the trace, against the slow twins."""
    draw = random.Random(11)
    for case in range(cases):
        requests = [[draw.randrange(2) for _ in range(draw.randrange(30))] for _ in range(30)]
        spaces = [draw.randrange(2) for _ in requests]
        for identity in ("prefix", "raw"):
            dense, raws, tree = naive_interning.interned(requests, spaces, identity)
            interner = Interner(identity)
            offsets, first, length = interner.add_lists(requests, np.array(spaces))
            trace = Trace(
                np.arange(30), offsets, first, length, **interner.result(), definition=Definition(identity=identity)
            )
            assert [trace.blocks(r).tolist() for r in range(30)] == dense
            assert trace.contract == tree and trace.n_blocks == len(raws)
            found = derived.next_holders(trace)
            assert [
                np.repeat(found.request[a:b], found.length[a:b]).tolist() for a, b in pairwise(found.offsets)
            ] == naive_derived.next_holders(dense)
            part = window(trace, 10, 20)
            assert [part.blocks(r).tolist() for r in range(10)] == naive_interning.interned(
                dense[10:20], [0] * 10, "raw"
            )[0]
            if identity == "prefix":
                large = reblock(trace, 3)
                paths = naive_transforms.reblocked(dense, 3)
                assert large.n_blocks == len({name for path in paths for name in path})
        plain = Trace.of_requests(requests)
        assert merge([plain, plain], "global").n_blocks == plain.n_blocks
        assert merge([plain, plain]).n_blocks == 2 * plain.n_blocks
        keys = [draw.getrandbits(64) for _ in range(case)]
        assert prefix_hash(keys).tolist() == naive_hash.prefix_hash(keys)
        signed = np.array(keys, np.uint64).view(np.int64)
        kept, offsets = normalize_requests(signed, np.array([0, case]), 3, True)
        assert kept.tolist() == naive_hash.prefix_hash(keys)[2::3] and offsets[1] == case // 3


@pytest.mark.parametrize("mode", ["", "NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_every_mode_of_numba(mode: str, tmp_path: Path) -> None:
    if not mode:
        check(20)
        return
    environment = {**os.environ, mode: "1", "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "error"}
    command = [sys.executable, "-c", "from tests.trace.test_modes import check; check(10)"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
