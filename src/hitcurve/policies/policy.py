"""What a policy file declares about itself, for the command line, the docs and the runner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from hitcurve.errors import BadParameter, UnknownName, shown
from hitcurve.projection import ttl_in_ns

CONTEXT = {"category", "session", "tenant", "tree"}  # needs that the frame's context fills
LARGEST = 1_000_000_000  # of a parameter: a share of a capacity that fits int32 then fits int64


class NoParams(NamedTuple):
    """For policies without parameters."""


def in_ns(policy: str, name: str, seconds: float) -> int:
    """A parameter in seconds as whole nanoseconds; BadParameter where it is negative or too short to be one."""
    if not (seconds == 0 or seconds >= 1e-9):
        raise BadParameter(f"{policy}: wanted {name} 0 or at least a nanosecond, found {seconds}")
    return ttl_in_ns(seconds)


def unchecked(state: Any, frame: Any) -> None:
    """For policies without invariants to assert."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """One eviction policy; a name, ``new_state`` and ``replay`` are enough.

    ``name``       as the command line spells it
    ``family``     the mechanism: queue, frequency, adaptive, sampled, oracle, cost-aware ...
    ``paper``      authors, title, venue; empty where it is folklore
    ``year``       of the paper, or None
    ``new_state``  (n_blocks, capacity, params, seed) -> NamedTuple of arrays, plain numpy; with the frame's ``context``
                   as a fifth argument where the policy needs anything of it
    ``replay``     the file's ``entry``: (frame, state, begin, end) -> next request or a negative code
    ``params``     NamedTuple class: typed fields with defaults, a comment each; a choice of words is a Literal
    ``needs``      of ``next_use`` (the future), ``cost``, ``time`` (of arrival: refused on a trace without), and of
                   the context ``category``, ``session``, ``tenant``, ``tree`` (see kernels/frame.py)
    ``without``    of ``time``, ``category``, ``session``, ``tenant``, ``tree``: a sentence on what it does without
    ``check``      (state, frame): asserts the invariants of the state; for tests
    """

    name: str = field(kw_only=False)
    family: str = "own"
    paper: str = ""
    year: int | None = None
    new_state: Callable[..., Any]
    replay: Callable[..., int]
    check: Callable[[Any, Any], None] = unchecked
    params: type = NoParams
    needs: frozenset[str] = field(default_factory=frozenset)
    without: Mapping[str, str] = field(default_factory=dict)

    def state(self, n_blocks: int, capacity: int, params: Any, seed: int, context: Any) -> Any:
        """What ``new_state`` makes of the arguments that it takes."""
        in_context = (context,) if self.needs & CONTEXT else ()
        return self.new_state(n_blocks, capacity, params, seed, *in_context)

    @property
    def doc(self) -> str:
        """The docstring of the policy's file: its contract with the paper."""
        return inspect.getdoc(inspect.getmodule(self.new_state)) or ""

    @property
    def title(self) -> str:
        """First line of the docstring."""
        return self.doc.split("\n", 1)[0]

    def with_params(self, **given: Any) -> Any:
        """The parameters, defaults filled in; UnknownName / BadParameter for what does not fit.

        >>> from hitcurve.policies import policy_named
        >>> policy_named("lru").with_params()
        NoParams()
        """
        kinds = get_type_hints(self.params)
        values = {}
        for name, value in given.items():
            if not kinds:
                raise BadParameter(f"{self.name} has no parameters, so none of the name {name!r}")
            if name not in kinds:
                raise UnknownName(f"parameter of {self.name}", name, kinds)
            kind = kinds[name]
            if get_origin(kind) is Literal:
                if value not in get_args(kind):
                    raise UnknownName(f"value of {self.name}.{name}", str(value), get_args(kind))
                values[name] = value
                continue
            try:
                values[name] = kind(value)
                if not isinstance(value, str) and values[name] != value:
                    raise ValueError
            except (TypeError, ValueError, OverflowError):
                raise BadParameter(f"{self.name}.{name}: wanted {kind.__name__}, found {shown(value)}") from None
            if not abs(values[name]) <= LARGEST:
                raise BadParameter(f"{self.name}.{name}: wanted at most {LARGEST:,} in size, found {shown(value)}")
        return self.params(**values)
