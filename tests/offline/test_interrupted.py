"""However a run ends, its folder holds the old pair or the new one, whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from hitcurve.offline.config import read_config
from hitcurve.offline.run import CSV, PARQUET, run_config
from tests.cli.running import COMMAND, error_line, hitcurve, limited
from tests.offline.configs import config, written

KILLS = 60
NOBODY = 65534

# Runs one configuration after another, each in a process of its own that has nothing to load.
RUNNER = """
import json, os, sys
from hitcurve.errors import HitcurveError
from hitcurve.offline.config import read_config
from hitcurve.offline.run import run_config

run_config(read_config(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin:
    path, user = json.loads(line)
    child = os.fork()
    if child == 0:
        if user is not None:
            os.setgroups([])
            os.setuid(user)
        try:
            run_config(read_config(path))
        except HitcurveError as error:
            sys.stderr.write(f"{error}\\n")
            sys.stderr.flush()
            os._exit(2)
        os._exit(0)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Runner:
    def __init__(self, first: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, first],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin, self._process.stdout
        assert self._out.readline() == "ready\n"

    def start(self, path: Path, user: int | None = None) -> int:
        """The number of the process that runs it."""
        self._in.write(json.dumps([str(path), user]) + "\n")
        self._in.flush()
        return int(self._out.readline())

    def status(self) -> int:
        return int(self._out.readline())

    def end(self) -> str:
        """What was written to standard error."""
        return self._process.communicate(timeout=60)[1]


def trace_of(path: Path, rows: int, first: int) -> None:
    lines = (
        f'{{"type":"get","instance_id":"i","trace_id":"{first}-{k}","timestamp_ns":{k + 1},"input_len":24,'
        f'"keys":[{first},{k % 50},{k},{k + 1},{k + 2},{first + k}]}}\n'
        for k in range(rows)
    )
    path.write_text("".join(lines))


@pytest.fixture
def two_runs(tmp_path):
    """Two configurations with one folder for results, and the pair that each publishes."""
    paths, pairs = [], []
    for number in (1, 2):
        place = tmp_path / str(number)
        place.mkdir()
        trace_of(place / "trace.jsonl", 8_000, number)
        paths.append(written(place, config(place, output_result_path=str(tmp_path), pipeline_worker_count=2)))
        run_config(read_config(paths[-1]))
        pairs.append(pair(tmp_path))
    assert pairs[0][0] != pairs[1][0]
    return paths, pairs


def pair(folder: Path) -> list[bytes]:
    return [(folder / name).read_bytes() for name in (CSV, PARQUET)]


def test_killed_at_random_moments(tmp_path, two_runs):
    paths, pairs = two_runs
    runner = Runner(paths[1])
    begun = time.monotonic()
    runner.start(paths[0])
    assert runner.status() == 0
    whole = time.monotonic() - begun
    draw, statuses = random.Random(5), []
    for k in range(KILLS):
        number = runner.start(paths[k % 2])
        time.sleep(draw.uniform(0, 1.2) * whole)
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
        statuses.append(runner.status())
        assert pair(tmp_path) in pairs
    assert set(statuses) <= {0, -signal.SIGKILL} and statuses.count(-signal.SIGKILL) > KILLS // 3
    runner.start(paths[1])
    assert runner.status() == 0 and runner.end() == ""
    assert pair(tmp_path) == pairs[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["1", "2", CSV, PARQUET])


def test_killed_from_outside_while_it_runs(tmp_path, two_runs):
    """The installed command, and its whole life from the start of the interpreter on."""
    paths, pairs = two_runs
    for k in range(4):
        process = subprocess.Popen([*COMMAND, "facts", paths[k % 2]], stderr=subprocess.DEVNULL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.4 * (k + 1))
        process.kill()
        process.wait()
        assert pair(tmp_path) in pairs


def test_a_reader_finds_one_pair_at_every_moment(tmp_path, two_runs):
    """Reads both names through one open folder again and again while runs publish by turns."""
    paths, pairs = two_runs
    stop, seen = threading.Event(), []

    def read() -> None:
        while not stop.is_set():
            seen.append([name.read_bytes() for name in (tmp_path / CSV, tmp_path / PARQUET)])

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(4):
        run_config(read_config(paths[k % 2]))
    stop.set()
    reader.join()
    csvs, parquets = zip(*pairs, strict=True)
    assert seen and all(csv in csvs and parquet in parquets for csv, parquet in seen)


@pytest.mark.parametrize(("room", "workers"), [(10, 1), (30_000, 3), (90_000, 1)])
def test_a_full_disk_leaves_the_old_pair(tmp_path, two_runs, room, workers):
    paths, pairs = two_runs
    spared = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = hitcurve("facts", paths[0], "--workers", workers, preexec_fn=limited(room), env=spared)
    assert error_line(done) == f"{tmp_path}: File too large"
    assert pair(tmp_path) == pairs[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["1", "2", CSV, PARQUET])


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_a_folder_that_another_user_owns(two_runs):
    """It is told before anything is read."""
    paths, _ = two_runs
    runner = Runner(paths[0])
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        for name in (CSV, PARQUET):
            (folder / name).write_text("old")
        (folder / "trace.jsonl").write_text("{")
        path = written(folder, config(folder, output_result_path=place))
        runner.start(path, NOBODY)
        assert runner.status() == 2
        assert [(folder / name).read_text() for name in (CSV, PARQUET)] == ["old", "old"]
    assert runner.end() == f"{place}: the folder cannot be written\n"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_must_not_be_written(tmp_path, two_runs):
    paths, pairs = two_runs
    tmp_path.chmod(0o555)
    try:
        done = hitcurve("facts", paths[0])
    finally:
        tmp_path.chmod(0o755)
    assert error_line(done) == f"{tmp_path}: the folder cannot be written"
    assert pair(tmp_path) == pairs[1]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("workers", [1, 3])
def test_interrupted_while_it_waits_for_input(tmp_path, number, status, workers):
    (tmp_path / CSV).write_text("old")
    process = subprocess.Popen(
        [*COMMAND, "facts", "-", "--input-format", "tair", "-o", tmp_path, "--block-bytes=1", f"--workers={workers}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background inherits "ignore"
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps({"type": "get"}) + "\n")
    process.stdin.flush()
    while not list(tmp_path.glob(".*.tmp")) and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)  # it now waits for more input, which never comes
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (status, "") and "Traceback" not in err
    assert [path.name for path in tmp_path.iterdir()] == [CSV] and (tmp_path / CSV).read_text() == "old"


def test_what_a_killed_run_left_is_cleared_up(tmp_path, two_runs):
    paths, pairs = two_runs
    slow = subprocess.Popen(
        [*COMMAND, "facts", "-", "--input-format", "tair", "-o", tmp_path, "--block-bytes", "1"],
        stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    while not list(tmp_path.glob(".*.tmp/new")) and slow.poll() is None:
        time.sleep(0.05)
    run_config(read_config(paths[0]))
    assert len(list(tmp_path.glob(".*.tmp"))) == 1  # it is alive, so it keeps what it has
    slow.kill()
    slow.wait()
    assert slow.stdin is not None
    slow.stdin.close()
    run_config(read_config(paths[1]))
    assert list(tmp_path.glob(".*.tmp")) == [] and pair(tmp_path) == pairs[1]
