"""However a command ends: the right status, at most one line of error, and no half-written file."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time

import click
import pytest

from hitcurve.cli.ending import run
from hitcurve.errors import BadParameter, TraceError
from tests.cli.running import COMMAND, error_line, hitcurve, limited, no_debug

ROW = '{"timestamp": %d, "input_length": 1024, "output_length": 5, "hash_ids": [%d, %d]}\n'
ROWS = "".join(ROW % (k, k % 7, 7 + k % 3) for k in range(50))


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.write_text(ROWS)
    return path


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (BadParameter("capacity is odd"), 2, "hitcurve: error: capacity is odd"),
        (TraceError("a.jsonl", 3, "not JSON"), 2, "hitcurve: error: a.jsonl:3: not JSON"),
        (click.BadParameter("no"), 2, "hitcurve: error: Invalid value: no (hitcurve verb --help)"),
        (OSError(errno.EACCES, "Permission denied", "/x"), 2, "hitcurve: error: /x: Permission denied"),
        (OSError(errno.ENOSPC, "Disk full"), 2, "hitcurve: error: Disk full"),
        (MemoryError(), 2, "hitcurve: error: out of memory; --head N reads the first N requests only"),
        (KeyboardInterrupt(), 130, "hitcurve: interrupted"),
        (BrokenPipeError(), 141, ""),
        (ZeroDivisionError("two\nlines"), 70, "hitcurve: internal error: ZeroDivisionError: two lines "
         "(HITCURVE_DEBUG=1 shows where; please report it)"),
    ],
)  # fmt: skip
def test_errors(error, status, line, capsys, monkeypatch):
    monkeypatch.delenv("HITCURVE_DEBUG", raising=False)

    @click.group()
    def group():
        pass

    @group.command("verb")
    def verb():
        raise error

    assert run(group, ["verb"]) == status
    assert capsys.readouterr().err.strip() == line


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("HITCURVE_DEBUG", "1")

    @click.command()
    def verb():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(verb, [])


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["cruve"], "unknown command 'cruve'; did you mean 'curve'"),
        (["curve"], "Missing argument"),
        (["curve", "x", "--nope"], "No such option"),
        (["curve", "x", "--capacity", "24 gigs"], "wanted blocks (16384, 16k, 1m), bytes (24GiB, 80GB) or inf"),
        (["curve", "x", "--block-size", "0"], "--block-size"),
        (["curve", "x", "--block-bytes", "1MiB", "--bytes-per-token", "1"], "give one of them"),
        (["curve", "x", "--window", "1h"], "--by window"),
        (["curve", "x", "--whole", "--capacity", "1"], "leave out --capacity"),
        (["curve", "x", "--plot", "-", "--format", "json"], "--plot - draws with characters: it goes with a table or"),
        (["curve", "x", "--plot", "a.svg", "--plot", "-", "-o", "x.csv"], "markdown, not with csv"),
        (["curve", "x", "--field", "arrival"], "NAME=VALUE"),
        (["curve", "/nowhere/x.jsonl"], "/nowhere/x.jsonl"),
        (["check", "/nowhere/x.jsonl"], "/nowhere/x.jsonl"),
    ],
)
def test_usage(args, says):
    assert says in error_line(hitcurve(*args))


def test_a_reader_that_goes_away_is_no_error(trace):
    there, here = os.pipe()
    os.close(there)
    done = subprocess.run([*COMMAND, "curve", trace, "--whole"], stdout=here, stderr=subprocess.PIPE, timeout=60)
    os.close(here)
    assert (done.stderr, done.returncode) == (b"", 141)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_standard_output_on_a_full_disk(trace):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "curve", trace], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (done.stderr, done.returncode) == ("hitcurve: error: standard output: No space left on device\n", 2)


@pytest.mark.parametrize(
    "args",
    [
        ["curve", "--whole", "-o", "out.csv"],
        ["curve", "--whole", "-o", "out.parquet"],
        ["curve", "--plot", "out.svg"],
        ["convert", "-o", "out.parquet"],
        ["convert", "--to", "mooncake", "-o", "out.jsonl"],
    ],
    ids=lambda args: " ".join(args),
)
def test_a_full_disk_leaves_the_old_file(args, trace, tmp_path):
    old = tmp_path / args[-1]
    hitcurve(args[0], trace, *args[1:], cwd=tmp_path)  # what is compiled or cached is so now, not under the limit
    old.write_text("old")
    # CPython keeps what fits of a .pyc that it could not write whole, and fails on it ever after
    spared = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = hitcurve(args[0], trace, *args[1:], cwd=tmp_path, preexec_fn=limited(64), env=spared)
    assert args[-1] in error_line(done) and "File too large" in done.stderr
    assert old.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([args[-1], "trace.jsonl"])


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_while_reading(number, status, tmp_path):
    out = tmp_path / "out.parquet"
    out.write_text("old")
    process = subprocess.Popen(
        [*COMMAND, "convert", "-", "--input-format", "mooncake", "--block-size", "512", "-o", out, "--progress"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=no_debug(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background inherits "ignore"
    )
    assert process.stdin is not None and process.stderr is not None
    process.stdin.write(ROWS)
    process.stdin.flush()
    said = ""
    while "reading" not in said and process.poll() is None:
        said += process.stderr.read(1)
    time.sleep(0.5)  # it now waits for more input, which never comes
    process.send_signal(number)
    out_text, err_text = process.communicate(timeout=60)
    assert process.returncode == status
    assert out_text == "" and "Traceback" not in err_text
    assert out.read_text() == "old" and [p.name for p in tmp_path.iterdir()] == ["out.parquet"]


def test_the_module_is_the_command():
    assert hitcurve("--version").stdout.startswith("hitcurve ")
    assert sys.executable in COMMAND
