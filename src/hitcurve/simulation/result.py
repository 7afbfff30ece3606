"""What a simulation measured: sums over all requests, over groups of them, and one row a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hitcurve._version import __version__
from hitcurve.table import Table
from hitcurve.trace import Trace
from hitcurve.trace.grouping import Groups, groups

# Whole numbers, one a request, that are summed; ``docs/simulation.md`` says what each is.
COUNTS = (
    "n_req",
    "n_req_skipped",
    "n_blocks",
    "n_block_hits",
    "prefix_hit_blocks",
    "hit_tokens",
    "tail_hit_tokens",
    "prefix_hit_tokens",
    "input_tokens",
    "n_eviction",
    "n_self_eviction",
    "n_overshoot",
    "n_released",
    "holes",
    "n_blocks_skipped",
)
RATIOS = {
    "block_hit_ratio": ("n_block_hits", "n_blocks"),
    "prefix_hit_ratio": ("prefix_hit_blocks", "n_blocks"),
    "token_hit_ratio": ("hit_tokens", "input_tokens"),
    "compute_saving_ratio": ("cost_saved", "cost"),
    "prefix_compute_saving_ratio": ("prefix_cost_saved", "cost"),
    "holes_per_request": ("holes", "n_req"),
}


class Match(NamedTuple):
    """One way to count hits: the names of its ratio and of the ratio it saves, and words for it."""

    ratio: str
    saving: str
    words: str
    short: str


MATCHES = {
    "gaps": Match("block_hit_ratio", "compute_saving_ratio", "block hits", "block hits"),
    "prefix": Match("prefix_hit_ratio", "prefix_compute_saving_ratio", "leading-prefix hits", "prefix hits"),
}


def matches(first: str) -> list[Match]:
    """Both ways, the one of that name before the other."""
    return [MATCHES[first], *(match for name, match in MATCHES.items() if name != first)]


@dataclass(frozen=True)
class Settings:
    """What was asked for: the identifying columns of every row.  ``capacity_blocks`` None is infinite.

    ``match`` is the count that comes first where results are shown: resident blocks wherever they stand (``gaps``), or
    those before the first missing one alone (``prefix``).  Both are always measured.
    """

    policy: str
    params: Mapping[str, float | int | str]
    capacity_blocks: int | None
    cost: str
    pin: bool
    replay_order: str
    seed: int
    kernel: str = "blocks"
    match: str = "gaps"

    def as_dict(self) -> dict[str, Any]:
        return {**vars(self), "params": dict(self.params)}


@dataclass(frozen=True, repr=False)
class Result:
    """One policy at one capacity.

    Every count and ratio of ``as_dict()`` is an attribute too: ``result.n_block_hits``, ``result.block_hit_ratio`` ...

    ``settings``     what was asked for
    ``requests``     Table, one row a request: the counts, ``cost``, ``cost_saved``, ``prefix_cost_saved`` and
                     ``longest_hole``
    ``hole_list``    int32 (holes, 3): request, first position, length of each hole; None unless it was asked for
    ``seconds``      spent in the request loop, compilation left out
    ``notes``        plain sentences on what a reader of the numbers must know
    """

    trace: Trace
    settings: Settings
    requests: Table
    seconds: float
    notes: tuple[str, ...] = ()
    hole_list: np.ndarray | None = None

    error: ClassVar[str | None] = None

    @cached_property
    def _all(self) -> dict[str, Any]:
        everything = Groups("all", [None], np.zeros(len(self.requests), np.int64))
        return {name: values[0] for name, values in self._measures(everything).items()}

    def _measures(self, grouped: Groups) -> dict[str, list[Any]]:
        """The counts and ratios of each group, by name.  A ratio is a quotient of two sums, 0 where both are 0."""
        columns = self.requests.columns
        sums = {
            name: grouped.sums(columns[name]).tolist() if name in columns else [None] * len(grouped.values)
            for name in (*COUNTS, "cost", "cost_saved", "prefix_cost_saved")
        }
        sums["holes_max"] = grouped.maxima(columns["holes"]).tolist()
        sums["longest_hole"] = grouped.maxima(columns["longest_hole"]).tolist()
        for ratio, (part, whole) in RATIOS.items():
            sums[ratio] = [
                None if p is None else p / w if w else 0.0 for p, w in zip(sums[part], sums[whole], strict=True)
            ]
        return sums

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        document = self.as_dict()
        if name not in document:
            raise AttributeError(f"a simulation result has no {name!r}; it has {', '.join(document)}")
        return document[name]

    def as_dict(self) -> dict[str, Any]:
        """Settings and measures under the names of the JSON output."""
        m = self._all
        misses = m["n_blocks"] - m["n_block_hits"]
        references = m["n_blocks"] + m["n_blocks_skipped"]
        settings = self.settings.as_dict()
        kernel, match = settings.pop("kernel"), settings.pop("match")
        return {
            **settings,
            **{name: m[name] for name in ("n_req", "n_req_skipped", "n_blocks", "n_block_hits", "block_hit_ratio")},
            **{name: m[name] for name in ("prefix_hit_blocks", "prefix_hit_ratio", "compute_saving_ratio")},
            **{name: m[name] for name in ("n_eviction", "n_self_eviction")},
            "n_unexpected_eviction": 0,  # the loop asks for victims in the allocation phase alone
            **{name: m[name] for name in ("holes", "holes_max")},
            "seconds": round(self.seconds, 6),
            **{name: m[name] for name in ("n_overshoot", "n_released")},
            "holes_per_request": m["holes_per_request"],
            "hole_length_mean": misses / m["holes"] if m["holes"] else 0.0,
            "hole_length_max": m["longest_hole"],
            **{name: m[name] for name in ("hit_tokens", "tail_hit_tokens", "prefix_hit_tokens", "token_hit_ratio")},
            "cost_total": m["cost"],
            "cost_saved": m["cost_saved"],
            **{name: m[name] for name in ("prefix_cost_saved", "prefix_compute_saving_ratio")},
            "skipped_block_share": m["n_blocks_skipped"] / references if references else 0.0,
            "blocks_per_second": round(m["n_blocks"] / self.seconds) if self.seconds else None,
            "kernel": kernel,
            "match": match,
            "identity": self.trace.definition.identity,
            "notes": list(self.notes),
            "error": None,
        }

    def by(self, column: str, window: float | None = None) -> Table:
        """Sums over groups of requests: ``session``, ``tenant``, ``request_type``, ``turn``, ``window`` (seconds) ...

        One row a group, in the columns of ``as_dict()`` as far as they can be summed.
        """
        grouped = groups(self.trace, column, window)
        if len(self.requests) < len(grouped.codes):
            grouped = Groups(grouped.column, grouped.values, grouped.codes[: len(self.requests)])
        measures = self._measures(grouped)
        named = {name: values for name, values in measures.items() if name not in ("longest_hole", "input_tokens")}
        named["hole_length_max"] = measures["longest_hole"]
        known = {name: values for name, values in named.items() if not values or values[0] is not None}
        return Table({grouped.column: grouped.values, **known}, self.provenance())

    def table(self) -> Table:
        """One row."""
        return Table({name: [_cell(value)] for name, value in self.as_dict().items()}, self.provenance())

    def provenance(self) -> dict[str, Any]:
        """What the numbers are of."""
        return {"hitcurve": __version__, "trace": self.trace.summary(), "simulation": self.settings.as_dict()}

    def __repr__(self) -> str:
        s = self.settings
        capacity = "unlimited" if s.capacity_blocks is None else f"{s.capacity_blocks:,} blocks"
        m = self._all
        ratios = ", ".join(f"{match.words} {m[match.ratio]:.6f}" for match in matches(s.match))
        saving = f"compute saving {m[MATCHES[s.match].saving]:.6f} ({s.cost})"
        holes = f"{m['holes_per_request']:.2f} holes a request"
        return "\n".join([f"<{s.policy} at {capacity}: {ratios}, {saving}, {holes}>", *self.notes])

    def _repr_html_(self) -> str:
        from html import escape

        rows = {name: _cell(value) for name, value in self.as_dict().items() if name not in ("notes", "error")}
        shown = Table({"": list(rows), "value": [_text(value) for value in rows.values()]})
        notes = "".join(f"<p><small>{escape(note)}</small></p>" for note in self.notes)
        return shown._repr_html_() + notes


@dataclass(frozen=True)
class Failure:
    """A run that ended in an error, in the place of its Result; ``as_dict()`` has the settings and the error."""

    trace: Trace
    settings: Settings
    error: str

    def as_dict(self) -> dict[str, Any]:
        return {**self.settings.as_dict(), "error": self.error}


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return ",".join(f"{name}={part}" for name, part in value.items())
    return "; ".join(value) if isinstance(value, list) else value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6f}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
