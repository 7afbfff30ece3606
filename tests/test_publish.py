"""Files that belong together change together: whatever fails, and wherever the process is killed."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from hitcurve.errors import OutputError
from hitcurve.publish import check_folder, published, published_together

NAMES = ("a.csv", "a.parquet")

# For each k: a child process of its own publishes over ``old`` files (and, if asked, over what a child left that was
# killed at its call number ``first``), and ends as by SIGKILL, just before its k-th call that touches a name:
# audit events tell of them.  Then another one publishes.  Prints what each left.
KILLS = """
import json, os, sys
from pathlib import Path
from hitcurve import publish as publishing
from hitcurve.publish import published_together

publishing.GRACE = 0
NAMES = ["a.csv", "a.parquet"]
place, old, first = Path(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3])

def publish(folder, text, k):
    def watch(event, args):
        nonlocal k
        if event in ("open", "shutil.rmtree") or event.startswith("os."):
            k -= 1
            if k == 0:
                os._exit(9)
    child = os.fork()
    if child == 0:
        if k:
            sys.addaudithook(watch)
        with published_together(folder, NAMES) as files:
            for file in files:
                file.write(text)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def content(folder):
    return [path.read_text() if path.exists() else None for path in (folder / name for name in NAMES)]

for k in range(1, 500):
    folder = place / str(k)
    folder.mkdir()
    for name in old:
        (folder / name).write_text("old")
    if first:
        status = publish(folder, b"new", first)
        if status == 0 and k == 1:
            sys.exit()  # done before that call
        assert status == 9
    before = content(folder)
    through_links = (folder / NAMES[0]).is_symlink()
    status = publish(folder, b"newer" if first else b"new", k)
    after = content(folder)
    publish(folder, b"last", 0)
    print(json.dumps([before, through_links, status, after, content(folder), sorted(os.listdir(folder))]))
    if status == 0 or (first and not through_links):
        break
"""


def kills(folder: Path, old: tuple[str, ...], first: int = 0) -> list[list[Any]]:
    """What was there around each kill; nothing where the first one was done before its call ``first``."""
    done = subprocess.run(
        [sys.executable, "-c", KILLS, folder, json.dumps(old), str(first)], capture_output=True, text=True
    )
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(folder: Path, text: str, names: tuple[str, ...] = NAMES) -> None:
    for name in names:
        (folder / name).write_text(text)


def content(folder: Path) -> list[str | None]:
    """What a reader finds under each name."""
    return [path.read_text() if path.exists() else None for path in (folder / name for name in NAMES)]


def publish(folder: Path, text: str) -> None:
    with published_together(folder, NAMES) as files:
        for file in files:
            file.write(text.encode())


@pytest.mark.parametrize("old", [(), NAMES, NAMES[:1]], ids=["nothing", "both", "one"])
def test_new_files_and_nothing_else(tmp_path, old):
    write(tmp_path, "old", old)
    for text in ("new", "newer"):
        publish(tmp_path, text)
        assert content(tmp_path) == [text, text]
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted(NAMES)
        assert not any(p.is_symlink() for p in tmp_path.iterdir())


@pytest.mark.parametrize("old", [(), NAMES, NAMES[:1]], ids=["nothing", "both", "one"])
def test_killed_before_any_call(tmp_path, old):
    """All of the old files or all of the new ones, whichever call was the last; the next to publish clears up."""
    found = kills(tmp_path, old)
    for before, _, _, after, at_last, names in found:
        assert after in (before, ["new", "new"])
        assert at_last == ["last", "last"] and names == sorted(NAMES)
    changed = [after == ["new", "new"] for _, _, _, after, _, _ in found]
    assert changed == sorted(changed) and not changed[0] and changed.count(True) > 5
    assert [status for _, _, status, _, _, _ in found] == [9] * (len(found) - 1) + [0]


def test_killed_while_clearing_up_after_a_kill(tmp_path):
    """The first kill is at each call at which the names led through links, before the change and after it."""
    befores = []
    for first in range(1, 100, 5):
        (tmp_path / str(first)).mkdir()
        found = kills(tmp_path / str(first), NAMES, first)
        if not found:
            break  # the first one was done before that call
        if not found[0][1]:
            continue
        befores.append(found[0][0])
        for before, through_links, _, after, at_last, names in found:
            assert through_links and before == befores[-1]
            assert after in (before, ["newer", "newer"])
            assert at_last == ["last", "last"] and names == sorted(NAMES)
    assert ["old", "old"] in befores and ["new", "new"] in befores


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt(), ValueError()])
def test_what_fails_while_writing_leaves_the_old_files(tmp_path, error):
    write(tmp_path, "old")
    wanted = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(wanted), published_together(tmp_path, NAMES) as files:
        files[0].write(b"half")
        raise error
    assert content(tmp_path) == ["old", "old"]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("old", [(), NAMES], ids=["nothing", "both"])
@pytest.mark.parametrize("call", ["link", "symlink", "replace"])
@pytest.mark.parametrize("nth", range(6))
def test_calls_that_fail_leave_one_set_whole(tmp_path, monkeypatch, call, nth, old):
    write(tmp_path, "old", old)
    before = content(tmp_path)
    real, count = getattr(os, call), 0

    def fails(*args, **options):
        nonlocal count
        count += 1
        if count == nth + 1:
            raise OSError(errno.EIO, "Input/output error")
        return real(*args, **options)

    monkeypatch.setattr(os, call, fails)
    failed = False
    try:
        publish(tmp_path, "new")
    except OutputError as error:
        failed = True
        assert str(error) == f"{tmp_path}: Input/output error"
    monkeypatch.undo()
    assert content(tmp_path) == (before if failed else ["new", "new"])
    assert old or not failed or list(tmp_path.iterdir()) == []
    publish(tmp_path, "newer")
    assert content(tmp_path) == ["newer", "newer"] and len(list(tmp_path.iterdir())) == 2


def test_without_links_files_change_one_after_another(tmp_path, monkeypatch):
    def none(*args, **options):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "symlink", none)
    monkeypatch.setattr(os, "link", none)
    write(tmp_path, "old")
    publish(tmp_path, "new")
    assert content(tmp_path) == ["new", "new"] and len(list(tmp_path.iterdir())) == 2


def test_a_folder_of_that_name_and_no_folder_at_all(tmp_path):
    (tmp_path / NAMES[1]).mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        publish(tmp_path, "new")
    with pytest.raises(OutputError, match="No such file"):
        publish(tmp_path / "none", "new")
    with pytest.raises(OutputError, match="Not a directory"):
        publish(Path(__file__), "new")


def test_a_file_behind_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    for text in ("new", "newer"):
        with published(tmp_path / "link", "w") as file:
            file.write(text)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "there" / "file").read_text() == text


def test_a_pipe_is_written_to(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with published(pipe, "w") as file:
        file.write("new")
    reader.join()
    assert read == ["new"] and pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_what_is_clear_beforehand(tmp_path, monkeypatch):
    check_folder(tmp_path)
    with pytest.raises(OutputError, match="there is no such folder"):
        check_folder(tmp_path / "none")
    monkeypatch.setattr(os, "access", lambda path, how: False)
    with pytest.raises(OutputError, match="cannot be written"):
        check_folder(tmp_path)


def test_readers_and_rivals_while_publishing(tmp_path):
    """Two publish by turns, one reads all the time: never a file missing, never one that is not whole."""
    publish(tmp_path, "0" * 100_000)
    stop, wrong = threading.Event(), []

    def read():
        while not stop.is_set():
            for name in NAMES:
                try:
                    text = (tmp_path / name).read_bytes()
                except OSError as error:
                    wrong.append(error)
                else:
                    if len(text) != 100_000 or len(set(text)) != 1:
                        wrong.append(text[:10])

    def rival(digit):
        for _ in range(20):
            publish(tmp_path, digit * 100_000)

    reader = threading.Thread(target=read)
    rivals = [threading.Thread(target=rival, args=(digit,)) for digit in "12"]
    reader.start()
    for thread in rivals:
        thread.start()
    for thread in rivals:
        thread.join()
    stop.set()
    reader.join()
    assert wrong == []
    assert content(tmp_path)[0] == content(tmp_path)[1]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(NAMES)
