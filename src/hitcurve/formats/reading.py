"""``read_trace``: open, recognise, read."""

from __future__ import annotations

from hitcurve.errors import BadParameter
from hitcurve.formats.format import TraceFormat, Wish
from hitcurve.formats.opening import Opened, Source, paths_of
from hitcurve.formats.recognising import recognised
from hitcurve.trace import Trace


def read(source: Source, format: TraceFormat | None, formats: tuple[TraceFormat, ...], wish: Wish) -> Trace:
    """The trace in ``source``, in the format named or recognised from its first file."""
    paths, notes = paths_of(source)
    return read_opened([Opened(path) for path in paths], notes, format, formats, wish)


def read_opened(
    files: list[Opened], notes: list[str], format: TraceFormat | None, formats: tuple[TraceFormat, ...], wish: Wish
) -> Trace:
    """The same of opened files, which are closed in the end."""
    try:
        if format is None and "fields" in wish.options:
            format = next(f for f in formats if f.name == "jsonl")
        if format is None:
            format = recognised(files[0], formats)
        _check_options(format, wish)
        if format.read is not None:
            return format.read(files, wish)
        from hitcurve.formats.json_reading import read_json

        return read_json(format, files, wish, notes)
    finally:
        for file in files:
            file.close()


def _check_options(format: TraceFormat, wish: Wish) -> None:
    known = [option.name for option in format.options]
    for name in wish.options:
        if name not in known:
            says = f"it has {', '.join(known)}" if known else "it has none"
            raise BadParameter(f"format {format.name} has no option {name!r}: {says}")
