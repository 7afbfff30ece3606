"""JSON objects whose fields are asked for one by one; what is wrong with them is collected, and told all at once."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

from hitcurve.errors import BadConfig, TraceError

INT32, INT64 = 2**31 - 1, 2**63 - 1


class Members(dict[str, Any]):
    """A JSON object, and the names that it gives more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs]
        self.repeated = sorted({name for name in names if names.count(name) > 1})


class Findings:
    """What is wrong (``problems``) and what is odd but harmless (``warnings``), one line each."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def wanted(self, path: str, wanted: str, found: Any) -> None:
        text = json.dumps(found, ensure_ascii=False)
        self.problems.append(f"{path}: wanted {wanted}, found {text if len(text) <= 60 else text[:57] + '...'}")


class Fields:
    """One JSON object at ``path``.  Every question names a field; ``default`` None: it must be there.

    A bad value is a finding, and the answer then empty: 0, "", nothing.  Whoever goes on with it leaves empty ones out.
    """

    def __init__(self, members: Members, path: str, findings: Findings) -> None:
        self.members, self.path, self.findings = members, path, findings
        self.asked: list[str] = []
        for name in members.repeated:
            findings.problems.append(f"{self.at(name)}: wanted once, found more than once")

    def at(self, name: str) -> str:
        """The JSON path of a field."""
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str | None = None) -> str:
        """A string; one that must be there must not be empty."""
        value = self._value(name, "a string" if default is not None else "a string that is not empty", default)
        if type(value) is str and (value or default is not None):
            return value
        return self._bad(
            name, "a string" if default is not None else "a string that is not empty", value, default or ""
        )

    def whole(self, name: str, default: int | None, least: int, most: int) -> int:
        """A whole number."""
        wanted = (
            f"a whole number of at least {least}" if most in (INT32, INT64) else f"a whole number {least} .. {most}"
        )
        value = self._value(name, wanted, default)
        if type(value) is int and least <= value <= most:
            return value
        if type(value) is int and value > most:
            wanted = f"a whole number of at most {most}"
        return self._bad(name, wanted, value, 0)  # type: ignore[no-any-return]

    def flag(self, name: str, default: bool = False) -> bool:
        value = self._value(name, "true or false", default)
        if type(value) is bool:
            return value
        return self._bad(name, "true or false", value, False)  # type: ignore[no-any-return]

    def numbers(self, name: str, most: float) -> tuple[float, ...]:
        """Finite numbers above 0, at least one."""
        values = self._list(name, "numbers")
        for i, value in enumerate(values):
            if type(value) not in (int, float) or not 0 < value < most:
                self.findings.wanted(f"{self.at(name)}[{i}]", f"a number above 0 and below {most:g}", value)
        return tuple(value for value in values if type(value) in (int, float))

    def texts(self, name: str) -> tuple[str, ...]:
        """Different strings that are not empty; there may be none."""
        values = self._list(name, "strings", may_be_empty=True)
        for i, value in enumerate(values):
            if type(value) is not str or not value:
                self.findings.wanted(f"{self.at(name)}[{i}]", "a string that is not empty", value)
            elif value in values[:i]:
                self.findings.wanted(f"{self.at(name)}[{i}]", "a name that is not there yet", value)
        return tuple(value for value in values if type(value) is str)

    def objects(self, name: str, may_be_empty: bool = False) -> list[Fields]:
        """The objects of an array, at least one unless it ``may_be_empty`` (or be left out)."""
        if may_be_empty and self.members.get(name) is None:
            self.asked.append(name)
            return []
        found = []
        for i, value in enumerate(self._list(name, "objects", may_be_empty)):
            path = f"{self.at(name)}[{i}]"
            if isinstance(value, Members):
                found.append(Fields(value, path, self.findings))
            else:
                self.findings.wanted(path, "an object", value)
        return found

    def object(self, name: str) -> Fields | None:
        """An object that must be there; None where it is not."""
        value = self._value(name, "an object", None)
        if isinstance(value, Members):
            return Fields(value, self.at(name), self.findings)
        self._bad(name, "an object", value, None)
        return None

    def unique(self, name: str, value: Any, earlier: list[Any]) -> None:
        """A finding where ``value`` stands among those of the objects before it; else it joins them."""
        if value and value in earlier:
            self.findings.wanted(self.at(name), "a name that no other has", value)
        earlier.append(value)

    def unknown(self, elsewhere: dict[str, str]) -> None:
        """Names that nobody asked for.  ``elsewhere``: a name that is known in another place -> that place.

        One that looks like a name asked for, or belongs elsewhere, is a mistake that would change facts: a problem.
        Any other is a warning, as other programs may read the same file.
        """
        for name in self.members:
            if name in self.asked:
                continue
            near = difflib.get_close_matches(name, self.asked, n=3, cutoff=0.75)
            if near:
                says = " or ".join(repr(n) for n in near)
                self.findings.problems.append(f"{self.at(name)}: unknown field; did you mean {says}?")
            elif name in elsewhere:
                self.findings.problems.append(f"{self.at(name)}: belongs to {elsewhere[name]}, not here")
            else:
                nearest = difflib.get_close_matches(name, self.asked, n=1, cutoff=0)
                known = f"the nearest known one is {nearest[0]!r}" if nearest else "nothing is known here"
                self.findings.warnings.append(f"{self.at(name)}: unknown field, ignored ({known})")

    def _value(self, name: str, wanted: str, default: Any) -> Any:
        self.asked.append(name)
        value = self.members.get(name, default)
        if value is None and name not in self.members:
            self.findings.problems.append(f"{self.at(name)}: wanted {wanted}, found nothing")
        return value

    def _bad(self, name: str, wanted: str, value: Any, instead: Any) -> Any:
        if name in self.members:
            self.findings.wanted(self.at(name), wanted, value)
        return instead

    def _list(self, name: str, of: str, may_be_empty: bool = False) -> list[Any]:
        wanted = f"an array of {of}" if may_be_empty else f"an array of at least one of {of}"
        value = self._value(name, wanted, None)
        if isinstance(value, list) and (value or may_be_empty):
            return value
        return self._bad(name, wanted, value, [])  # type: ignore[no-any-return]


def read_object(path: Path) -> Members:
    """The JSON object in a file; TraceError where it cannot be read or is none."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TraceError(path, reason=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise TraceError(path, reason=f"not UTF-8 text (byte {error.start + 1})") from error
    try:
        value = json.loads(text, object_pairs_hook=Members)
    except json.JSONDecodeError as error:
        raise TraceError(path, error.lineno, f"not JSON: {error.msg} (column {error.colno})") from error
    except (RecursionError, ValueError) as error:
        raise TraceError(path, reason=f"not JSON: {error}") from error
    if not isinstance(value, Members):
        raise BadConfig(path, [f"wanted a JSON object, found {type(value).__name__}"])
    return value
