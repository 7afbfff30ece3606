"""Whose fault a crash inside a policy is: the policy's, said in one line with the place in its file."""

from __future__ import annotations

import inspect
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hitcurve.errors import HitcurveError, SimulationError
from hitcurve.policies.policy import Policy


@contextmanager
def blamed(policy: Policy) -> Iterator[None]:
    """Turn whatever the policy's code raises inside the block into a SimulationError."""
    try:
        yield
    except (HitcurveError, MemoryError):
        raise
    except Exception as error:
        if type(error).__module__.startswith("numba."):
            reason = f"does not compile: {compiler_words(str(error))}"
        else:
            places = traceback.extract_tb(error.__traceback__)
            own = inspect.getsourcefile(policy.new_state)
            where = next((place for place in reversed(places) if place.filename == own), places[-1])
            said = " ".join(str(error).split())
            reason = f"{type(error).__name__}{': ' + said if said else ''} ({Path(where.filename).name}:{where.lineno})"
        raise SimulationError(f"policy {policy.name}: {reason}") from error


def compiler_words(message: str) -> str:
    """What numba says, without its ornaments: the innermost complaint and the innermost place.

    >>> compiler_words("Failed in nopython mode\\nNameError: name 'x' is not defined\\nFile \\"mine.py\\", line 9:")
    "NameError: name 'x' is not defined (mine.py:9)"
    """
    places = re.findall(r'File "([^"]+)", line (\d+)', message)
    ornaments = ("Failed in", "File ", "During:", "def ", "<source", "This error", "- Resolution", "Enable logging")
    lines = [line.strip(" -\t") for line in message.splitlines()]
    said = [line for line in lines if line and not line.startswith(ornaments)]
    words = next(
        (line for line in said if re.search(r"Error|No implementation|Unknown|Untyped|cannot|Cannot", line)), ""
    )
    words = words or (said[0] if said else "numba gives no reason")
    return f"{words[:300]} ({Path(places[-1][0]).name}:{places[-1][1]})" if places else words[:300]
