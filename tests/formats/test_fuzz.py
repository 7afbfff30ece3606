"""Mutated files of every format end in a trace or in an error of ours, and in bounded time.

By hand, for as long as wanted: ``python -m tests.formats.test_fuzz 600`` (seconds).
"""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from pathlib import Path
from random import Random

import pytest
import zstandard

from hitcurve.errors import HitcurveError
from hitcurve.formats import FORMATS, read_trace, write_trace
from hitcurve.trace import Trace
from tests.formats import hostile
from tests.formats.binary import lcsllm_file, oracle_general_file
from tests.formats.tokenizer import tiny_tokenizer

ROUNDS = 150  # a format and run
SLOWEST = 5.0  # seconds that one small file may take


def seeds() -> dict[str, bytes]:
    """A small good file of every format."""
    found = {}
    for format in FORMATS:
        if format.sample.startswith("{"):
            data = format.sample.encode()
            found[format.name] = data if format.name == "weka" else (data + b"\n") * 3
    found["weka, lines"] = (found["weka"].replace(b"\n", b"") + b"\n") * 3
    trace = Trace.of_requests([[1, 2, 3], [1, 2, "x"], [2**70]], block_size=16)
    for format in FORMATS:
        if format.write is not None and format.name not in found:
            with tempfile.TemporaryDirectory() as folder:
                write_trace(trace, Path(folder) / "t", format=format.name)
                found[format.name] = (Path(folder) / "t").read_bytes()
    found["lcsllm"], found["oracle-general"] = lcsllm_file(), oracle_general_file([7, 8, 7, 2**63])
    assert {name.split(",")[0] for name in found} == {format.name for format in FORMATS}
    return found


SEEDS = seeds()
OPTIONS = {"text": {"tokenizer": tiny_tokenizer()}}  # what reading needs


def attempt(path: Path, data: bytes, random: Random, name: str) -> str:
    """Read mutated ``data`` under random options; "trace" or "refused"."""
    data = hostile.mutated(data, random, random.choice([1, 1, 2, 4, 10]))
    if random.random() < 0.2:
        data = random.choice([gzip.compress, zstandard.compress])(data)
        data = hostile.mutated(data, random, random.choice([0, 0, 1]))
    path.write_bytes(data)
    options = {
        "format": random.choice([None, name.split(",")[0]]),
        "skip_bad": random.random() < 0.4,
        "sort": random.random() < 0.3,
        "tail": random.choice(["keep", "drop"]),
        "identity": random.choice(["prefix", "prefix", "raw"]),
        "id_scope": random.choice([None, None, "global", "file", "conversation"]),
        "block_size": random.choice([None, None, 16]),
        "head": random.choice([None, None, 1, 2]),
        **OPTIONS.get(name, {}),
    }
    started = time.monotonic()
    try:
        trace = read_trace(path, **options)
        assert trace.n_requests > 0 and trace.summary()
        return "trace"
    except HitcurveError as error:
        assert str(error) and "\n" not in str(error), repr(str(error))
        return "refused"
    finally:
        assert time.monotonic() - started < SLOWEST


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.filterwarnings("error")
def test_mutated_files(name, tmp_path):
    read_trace(
        _put(tmp_path / "good", SEEDS[name]), sort=True, **OPTIONS.get(name, {})
    )  # and compiles, so that no round is slow for that
    random = Random(name)
    ends = {attempt(tmp_path / "t", SEEDS[name], random, name) for _ in range(ROUNDS)}
    assert "refused" in ends
    assert "trace" in ends or name == "parquet"  # a Parquet file has checksums


def _put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


if __name__ == "__main__":
    import warnings

    warnings.simplefilter("error")
    until = time.monotonic() + float(sys.argv[1] if len(sys.argv) > 1 else 60)
    seed = int(time.time())
    counts = {"trace": 0, "refused": 0}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in SEEDS.items():
            read_trace(_put(Path(folder) / "good", data), sort=True, **OPTIONS.get(name, {}))
        while time.monotonic() < until:
            seed += 1
            for name, data in SEEDS.items():
                try:
                    counts[attempt(Path(folder) / "t", data, Random(seed), name)] += 1
                except BaseException:
                    print(f"seed {seed}, {name}: {(Path(folder) / 't').read_bytes()!r}")
                    raise
    print(counts)
