"""Every error that hitcurve raises on purpose.

    HitcurveError                  the command line prints it as one line and exits with status 2
    ├── TraceError                 a trace file says something it must not: path, line, field, wanted, found
    ├── UnknownName                no policy, format, column ... of that name; names the nearest known ones
    ├── UnsupportedTrace           the trace is fine, but lacks what the question needs
    ├── BadParameter               an argument or option has a value it cannot have
    ├── BadConfig                  a configuration file breaks rules: all of them, one line each
    ├── OutputError                a result could not be written; nothing half-written is left
    └── SimulationError            a policy broke its contract with the request loop

A traceback is a bug in hitcurve, never the user's mistake.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HitcurveError(Exception):
    """Base of all errors raised on purpose; ``str(error)`` is one line."""


class TraceError(HitcurveError):
    """Bad input in a trace file.

    Attributes: ``path`` (str), ``line`` (1-based int or None), ``reason`` (str).

    >>> print(TraceError("conversation.jsonl", 1042, "hash_ids is empty"))
    conversation.jsonl:1042: hash_ids is empty
    >>> print(TraceError("a.jsonl", 7, field="input_length", wanted="a whole number >= 0", found=-3))
    a.jsonl:7: input_length: wanted a whole number >= 0, found -3
    """

    def __init__(
        self,
        path: object,
        line: int | None = None,
        reason: str | None = None,
        *,
        field: str | None = None,
        wanted: str | None = None,
        found: object = None,
    ) -> None:
        if reason is None:
            reason = f"{field}: wanted {wanted}, found {shown(found)}"
        self.path, self.line, self.reason = str(path), line, reason
        super().__init__(f"{path}:{line}: {reason}" if line is not None else f"{path}: {reason}")


class UnknownName(HitcurveError):
    """A name that is not in the list of ``kind`` (singular), with the nearest known ones.

    >>> print(UnknownName("policy", "s3-fifo", ["lru", "s3fifo"], listing="hitcurve policies"))
    unknown policy 's3-fifo'; did you mean 's3fifo'? (hitcurve policies lists all 2)
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], listing: str | None = None) -> None:
        names = list(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
        message = f"unknown {kind} {name!r}"
        if near:
            message += "; did you mean " + " or ".join(repr(n) for n in near) + "?"
        message += f" ({listing} lists all {len(names)})" if listing else f" (known: {', '.join(names)})"
        super().__init__(message)


class UnsupportedTrace(HitcurveError):
    """The trace lacks what the question needs (time stamps, block size, raw ids ...)."""


class BadParameter(HitcurveError):
    """An argument or option has a value it cannot have."""


class BadConfig(HitcurveError):
    """A configuration file breaks rules.  ``path``; ``problems``: one line for each, with the JSON path of its field.

    >>> print(BadConfig("run.json", ["block_size: wanted a whole number of at least 1, found 0"]))
    run.json: block_size: wanted a whole number of at least 1, found 0
    """

    def __init__(self, path: object, problems: Iterable[str]) -> None:
        self.path, self.problems = str(path), tuple(problems)
        super().__init__("; ".join(f"{self.path}: {problem}" for problem in self.problems))


class OutputError(HitcurveError):
    """A result could not be written. Whatever stood at the path before still stands there."""


class SimulationError(HitcurveError):
    """A policy broke its contract with the request loop; the run's numbers are worthless."""


def shown(value: object, limit: int = 60) -> str:
    """``repr(value)``, cut to ``limit`` characters, for error lines."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
