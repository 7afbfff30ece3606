"""Run the installed command in a process of its own, as a user does."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMAND = [sys.executable, "-m", "hitcurve"]


def hitcurve(*args: Any, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Finished process with ``stdout`` and ``stderr`` as text; never a traceback."""
    done = subprocess.run([*COMMAND, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=300, **options)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def error_line(done: subprocess.CompletedProcess[str], status: int = 2) -> str:
    """The one line of a command that failed, after its prefix; nothing was printed."""
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    (line,) = done.stderr.splitlines()
    assert line.startswith("hitcurve: error: "), line
    assert done.stdout == ""
    return line.removeprefix("hitcurve: error: ")


def limited(n_bytes: int) -> Callable[[], None]:
    """For ``preexec_fn``: no file may grow beyond so many bytes."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))

    return limit


def no_debug() -> dict[str, str]:
    """The environment without what would show tracebacks."""
    return {k: v for k, v in os.environ.items() if k != "HITCURVE_DEBUG"}
