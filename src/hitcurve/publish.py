"""Writing files so that nobody ever sees half of one: write beside, then rename.

A reader of ``path`` finds the old file or the new one, whole.  Whatever fails on the way, a full disk and Ctrl-C
included, leaves the old file as it was and no temporary one.

Files that belong together (``published_together``) change together: at every moment, and after a kill at any moment,
all of them are of the old set, or all of the new one.  No system call renames two files at once.  But one renames a
symbolic link, and the names may lead through it:

    folder/.NAME.d1f0.tmp/new/a, b     written, and on the disk
    folder/.NAME.d1f0.tmp/old/a, b     second names of the old files
    folder/.NAME.d1f0.tmp/now -> old
    folder/a, b -> .NAME.d1f0.tmp/now/a, b      one after another: they still lead to the old files
    folder/.NAME.d1f0.tmp/now -> new            both lead to the new ones
    folder/a, b                                 one after another: the new files themselves

So links are there for the moment of the change only.  A process killed in that moment leaves them, and the folder that
they lead to; the next one to publish there clears it up.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from hitcurve.errors import OutputError

GRACE = 0.05  # seconds; who is just opening a file through a link has arrived by then


@contextmanager
def published(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """A file to write to (``open``'s ``mode`` and ``options``), that becomes ``path`` when the block ends well.

    Links are followed.  What is there and no file, a device or a pipe, is written to: a file in its place would end it.
    OutputError where the folder cannot be written or the disk is full.
    """
    named = Path(path)
    if named.is_dir():
        raise OutputError(f"{named}: is a folder")
    if named.exists() and not named.is_file():
        with _written_straight(named, mode, options) as file:
            yield file
        return
    target = Path(os.path.realpath(named))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(beside, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise OutputError(f"{named}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


@contextmanager
def _written_straight(target: Path, mode: str, options: dict[str, Any]) -> Iterator[IO[Any]]:
    try:
        with open(target, mode, **options) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"{target}: {error.strerror or error}") from error


def check_folder(folder: str | os.PathLike[str]) -> None:
    """OutputError where it is clear beforehand that nothing can be published there."""
    if not os.path.isdir(folder):
        raise OutputError(f"{os.fspath(folder)}: there is no such folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise OutputError(f"{os.fspath(folder)}: the folder cannot be written")


@contextmanager
def made_folder(folder: str | os.PathLike[str]) -> Iterator[None]:
    """The folder is there; and gone again where it was not before, and the block ends badly with nothing in it."""
    there = os.path.isdir(folder)
    if not there:
        try:
            os.mkdir(folder)
        except OSError as error:
            raise OutputError(f"{os.fspath(folder)}: {error.strerror or error}") from error
    try:
        check_folder(folder)
        yield
    except BaseException:
        if not there:
            with suppress(OSError):
                os.rmdir(folder)
        raise


@contextmanager
def published_together(folder: str | os.PathLike[str], names: Sequence[str]) -> Iterator[list[IO[bytes]]]:
    """A file to write to for each of ``names``; when the block ends well, they become those of ``folder``, at once.

    OutputError where the folder cannot be written or the disk is full.  On a file system without symbolic links they
    change one after another.
    """
    place = Path(folder)
    for name in names:
        if (place / name).is_dir():
            raise OutputError(f"{place / name}: is a folder")
    beside = place / f".{names[0]}.{secrets.token_hex(4)}.tmp"
    with ExitStack() as held:
        try:
            with _locked(place):
                _clear_up(place, names)
                beside.mkdir()
                fcntl.flock(held.enter_context(open(beside / "held", "wb")), fcntl.LOCK_EX)
            (beside / "new").mkdir()
            files = []
            for name in names:
                files.append(open(beside / "new" / name, "wb"))  # noqa: SIM115
                held.callback(_close_anyhow, files[-1])
            yield list(files)
            for file in files:
                file.flush()
                os.fsync(file.fileno())
                file.close()
            _sync(beside / "new")
            with _locked(place):
                _change(place, beside, names)
        except OSError as error:
            raise OutputError(f"{place}: {error.strerror or error}") from error
        finally:
            with suppress(OSError), _locked(place):
                _settle(place, beside, names)


def _close_anyhow(file: IO[bytes]) -> None:
    """What cannot be written any more is of a file that nobody will see."""
    with suppress(OSError):
        file.close()


def _change(place: Path, beside: Path, names: Sequence[str]) -> None:
    """All ``names`` lead to the new files, by way of links."""
    (beside / "old").mkdir()
    for name in names:
        if (place / name).exists():
            _second_name((place / name).resolve(), beside / "old" / name)
    try:
        (beside / "now").symlink_to("old")
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP):
            raise
        for name in names:
            os.replace(beside / "new" / name, place / name)
        return
    for name in names:
        (beside / "link").symlink_to(_through(beside, name))
        os.replace(beside / "link", place / name)
    (beside / "next").symlink_to("new")
    os.replace(beside / "next", beside / "now")
    _sync(place)


def _settle(place: Path, beside: Path, names: Sequence[str]) -> None:
    """Put the files themselves where ``names`` lead through ``beside``, and remove it."""
    led = False
    for name in names:
        if (place / name).is_symlink() and os.readlink(place / name) == _through(beside, name):
            led = True
            if (place / name).exists():
                _second_name((place / name).resolve(), beside / "file")
                os.replace(beside / "file", place / name)
            else:
                (place / name).unlink()  # there was none before
    _sync(place)
    if led:
        time.sleep(GRACE)
    for path in beside.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != "held":
            path.unlink()
    (beside / "held").unlink(missing_ok=True)  # at last: who finds a folder without it finds an empty one
    beside.rmdir()


def _clear_up(place: Path, names: Sequence[str]) -> None:
    """Settle what processes left that were killed here; who is alive holds a lock."""
    for beside in place.glob(f".{names[0]}.*.tmp"):
        with suppress(OSError):
            if not any(beside.iterdir()):
                beside.rmdir()
                continue
            with open(beside / "held", "rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _settle(place, beside, names)


def _through(beside: Path, name: str) -> str:
    return f"{beside.name}/now/{name}"


def _second_name(file: Path, name: Path) -> None:
    """``name`` is another name of ``file``; a copy of it where the file system has no second names."""
    name.unlink(missing_ok=True)
    try:
        os.link(file, name)
    except OSError:
        shutil.copy2(file, name)


@contextmanager
def _locked(place: Path) -> Iterator[None]:
    """Nobody else changes names in the folder meanwhile, as far as its file system can lock folders."""
    number = os.open(place, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(number, fcntl.LOCK_EX)
        yield
    finally:
        os.close(number)


def _sync(folder: Path) -> None:
    """Names in a folder are on the disk, as far as its file system can say so."""
    number = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(number)
    finally:
        os.close(number)
