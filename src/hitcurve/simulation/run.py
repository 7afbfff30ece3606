"""One policy over one trace, in slices: run, look, save the state, go on."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from hitcurve._version import __version__
from hitcurve.costs import Cost, cost_named
from hitcurve.errors import BadParameter, SimulationError, UnsupportedTrace
from hitcurve.kernels.frame import N_HOLES, OCCUPIED, REQUEST
from hitcurve.kernels.loop import NO_PROGRESS, NOT_RESIDENT, OVER_CAPACITY
from hitcurve.policies import policy_named
from hitcurve.policies.policy import Policy
from hitcurve.simulation.asked import ORDERS, capacity_asked, match_asked, order_asked, seed_asked
from hitcurve.simulation.blame import blamed
from hitcurve.simulation.kernel import form_of, resident_blocks
from hitcurve.simulation.prepared import Prepared
from hitcurve.simulation.result import Result, Settings
from hitcurve.table import Table
from hitcurve.trace import Trace

SLICE = 1 << 24  # block references between two looks at Ctrl-C and progress: 0.1 to 1 s
LOG_ROWS = 1 << 16
LARGEST = 2**31 - 1  # capacity that matters: no trace has more blocks; shares of it fit int64
MEASURED = ("served", "hits", "full_hits", "prefix_hits", "full_prefix_hits", "saved", "holes", "longest_hole")
CHANGING = (*MEASURED, "evictions", "self_evictions", "overshoots", "releases", "next_use", "resident", "numbers")

Progress = Callable[[int, int], None]


class Simulation:
    """A cache of ``capacity`` blocks under one policy, and the requests of a trace waiting to be served.

    ``trace``         a Trace, or a Prepared one that several simulations share
    ``capacity``      in blocks; None: room for everything
    ``policy``        a name (``hitcurve policies``), the path of a Python file, or a Policy
    ``cost``          a cost model (``uniform``, ``linear:865,2`` ...) or a Cost
    ``pin``           blocks of the arriving request are not evicted while room is made for it
    ``replay_order``  ``deepest-first``, or ``prefix`` (root first)
    ``params``        the policy's parameters by name; what is not named has its default
    ``holes``         keep request, start and length of every hole
    ``verify``        after every request assert residency and the policy's own invariants (slow)
    ``kernel``        ``blocks``: the policy's definition; ``ranges``: its fast form; ``auto``: ranges where it pays.
                      The same counts either way; ``settings.kernel`` says which it was
    ``match``         what comes first where the result is shown: ``gaps``, resident blocks wherever they stand, or
                      ``prefix``, those before the first missing one; both are measured

    >>> from hitcurve import Trace
    >>> s = Simulation(Trace.of_requests([[1, 2, 3], [4], [1, 2, 3]]), "lru", 4)
    >>> s.run(until=2).position, s.run().position
    (2, 3)
    >>> s.result().n_block_hits
    3
    """

    def __init__(
        self,
        trace: Trace | Prepared,
        policy: str | Policy = "lru",
        capacity: int | None = None,
        *,
        cost: str | Cost = "uniform",
        pin: bool = True,
        replay_order: str = "deepest-first",
        seed: int = 0,
        params: Mapping[str, Any] | None = None,
        holes: bool = False,
        verify: bool = False,
        kernel: str = "auto",
        match: str = "gaps",
    ) -> None:
        self.prepared = trace if isinstance(trace, Prepared) else Prepared(trace)
        self.trace = self.prepared.trace
        self.policy = policy if isinstance(policy, Policy) else policy_named(policy)
        self.cost = cost if isinstance(cost, Cost) else cost_named(cost)
        self.verify = verify
        values = self.policy.with_params(**(params or {}))
        order = order_asked(replay_order)
        deepest_first = order == ORDERS[0]
        self.form = form_of(self.policy, self.trace, kernel, bool(pin), deepest_first)
        self.settings = Settings(
            policy=self.policy.name,
            params=values._asdict(),
            capacity_blocks=capacity_asked(capacity),
            cost=self.cost.name,
            pin=bool(pin),
            replay_order=order,
            seed=seed_asked(seed),
            kernel=self.form.name,
            match=match_asked(match),
        )
        if "time" in self.policy.needs and self.trace.definition.time_unit == "none":
            raise UnsupportedTrace(f"{self.policy.name} works with times of arrival, and this trace has none")
        self.capacity = min(self.settings.capacity_blocks or max(1, self.trace.n_blocks), LARGEST)
        self.frame = self.prepared.frame(
            self.capacity,
            self.cost.of_positions(self.prepared.longest),
            pin=self.settings.pin,
            deepest_first=deepest_first,
            needs=self.policy.needs,
            hole_log=LOG_ROWS if holes else 0,
            bits=self.form.name == "ranges",
        )
        self.position, self.seconds = 0, 0.0  # requests done, time spent on them
        self._holes: list[np.ndarray] = []
        with self._blamed():
            sizes = (self.trace.n_requests, self.trace.n_blocks, self.capacity)
            self.state = self.form.new_state(*sizes, values, self.settings.seed, self.frame.context)

    def run(self, until: int | None = None, progress: Progress | None = None) -> Simulation:
        """Serve the requests before number ``until`` (default: all) that have not been served yet.

        ``progress(requests done, requests in all)`` is called after each slice of some 16 M block references, and
        where a policy pauses to learn.
        SimulationError when the policy breaks its contract: the simulation is of no use after that.
        """
        n = self.trace.n_requests
        end = n if until is None else min(until, n)
        with self._blamed():
            self.form.replay(self.frame, self.state, 0, 0)  # compiles, where it must
        for stop in self._slices(end):
            while self.position < stop:
                self._advance(stop)
                if progress is not None:
                    progress(self.position, n)
        return self

    def result(self) -> Result:
        """What the requests so far measured."""
        done, frame, trace = self.position, self.frame, self.trace
        served = frame.served[:done].astype(bool)
        blocks = frame.blocks[:done]
        counts = {
            "n_req": served.astype(np.int64),
            "n_req_skipped": (~served).astype(np.int64),
            "n_blocks": blocks * served,
            "n_block_hits": frame.hits[:done].astype(np.int64),
            "prefix_hit_blocks": frame.prefix_hits[:done].astype(np.int64),
            "n_eviction": frame.evictions[:done].astype(np.int64),
            "n_self_eviction": frame.self_evictions[:done].astype(np.int64),
            "n_overshoot": frame.overshoots[:done].astype(np.int64),
            "n_released": frame.releases[:done].astype(np.int64),
            "holes": frame.holes[:done].astype(np.int64),
            "longest_hole": frame.longest_hole[:done].astype(np.int64),
            "n_blocks_skipped": blocks * ~served,
            "cost": frame.cost_sum[blocks] * served,
            "cost_saved": frame.saved[:done].copy(),
            "prefix_cost_saved": frame.cost_sum[frame.prefix_hits[:done]],
        }
        size = trace.definition.block_size
        if size is not None:
            counts["hit_tokens"] = frame.full_hits[:done].astype(np.int64) * size
            counts["prefix_hit_tokens"] = frame.full_prefix_hits[:done].astype(np.int64) * size
            if trace.input_tokens is not None:
                tokens = trace.input_tokens[:done]
                tail_hit = frame.hits[:done] > frame.full_hits[:done]
                counts["tail_hit_tokens"] = tail_hit * np.maximum(tokens - frame.full_blocks[:done] * size, 0)
                counts["input_tokens"] = tokens * served
        logged = self.frame.hole_log[: self.frame.numbers[N_HOLES]].copy()
        return Result(
            trace=trace,
            settings=self.settings,
            requests=Table(counts),
            seconds=self.seconds,
            notes=tuple(self._notes(served, blocks, counts["n_self_eviction"])),
            hole_list=np.concatenate([*self._holes, logged]) if len(self.frame.hole_log) else None,
        )

    def checkpoint(self) -> dict[str, Any]:
        """All that changes while running, copied, as plain picklable values."""
        return {
            "of": self._fingerprint(),
            "position": self.position,
            "seconds": self.seconds,
            "holes": [*self._holes, self.frame.hole_log[: self.frame.numbers[N_HOLES]].copy()],
            "frame": {name: getattr(self.frame, name).copy() for name in CHANGING},
            "state": [array.copy() for array in _arrays(self.state)],
        }

    def resume(self, checkpoint: Mapping[str, Any]) -> Simulation:
        """Go on from a checkpoint of a simulation of the same trace under the same settings."""
        if checkpoint["of"] != self._fingerprint():
            raise BadParameter("checkpoint: is of another trace, policy or setting, or of another version of hitcurve")
        self.position, self.seconds, self._holes = checkpoint["position"], checkpoint["seconds"], [*checkpoint["holes"]]
        for name, array in checkpoint["frame"].items():
            getattr(self.frame, name)[:] = array
        self.frame.numbers[N_HOLES] = 0
        for target, array in zip(_arrays(self.state), checkpoint["state"], strict=True):
            target[:] = array
        return self

    def _slices(self, end: int) -> Iterator[int]:
        """Where to pause: every request under ``verify``, else every ``SLICE`` references."""
        if self.verify:
            yield from range(self.position + 1, end + 1)
            return
        ends = np.cumsum(self.frame.blocks)
        at = self.position
        while at < end:
            begun = int(ends[at - 1]) if at else 0
            at = min(end, max(at + 1, int(np.searchsorted(ends, begun + SLICE, side="right"))))
            yield at

    def _advance(self, stop: int) -> None:
        """Serve up to ``stop``, or until the hole log is full or the policy pauses to learn; empty the log."""
        begun = time.perf_counter()
        with self._blamed():
            done = self.form.replay(self.frame, self.state, self.position, stop)
        self.seconds += time.perf_counter() - begun
        if done < 0:
            raise SimulationError(self._broken(int(done)))
        self.position = int(done)
        if done < stop:
            numbers = self.frame.numbers
            self._holes.append(self.frame.hole_log[: numbers[N_HOLES]].copy())
            numbers[N_HOLES] = 0
        elif self.verify:
            self._verify(self.position - 1)

    def _verify(self, r: int) -> None:
        frame, name = self.frame, self.policy.name
        resident = resident_blocks(frame)
        occupied = int(np.count_nonzero(resident))
        if occupied != frame.numbers[OCCUPIED] or occupied > self.capacity:
            raise SimulationError(f"{name}: {occupied} blocks are resident after request {r}, which cannot be")
        if frame.served[r]:
            blocks = self.trace.blocks(r)
            missing = np.flatnonzero(~resident[blocks])
            if len(missing):
                raise SimulationError(
                    f"{name}: request {r} of {len(blocks)} blocks was served, but position {missing[0]} is not resident"
                )
        if self.form.check is not None:
            with self._blamed():
                self.form.check(self.state, frame)

    def _broken(self, code: int) -> str:
        r = int(self.frame.numbers[REQUEST])
        what = {
            NO_PROGRESS: "named no victim in more steps than there are resident blocks",
            NOT_RESIDENT: "named a block to free that is not resident",
            OVER_CAPACITY: f"left more than {self.capacity} blocks resident",
        }.get(code, f"ended with code {code}")
        return f"policy {self.policy.name}, request {r}: {what}"

    def _notes(self, served: np.ndarray, blocks: np.ndarray, self_evictions: np.ndarray) -> Iterator[str]:
        if not served.all():
            skipped = np.flatnonzero(~served)
            share = blocks[skipped].sum() / max(1, blocks.sum())
            yield (
                f"{len(skipped):,} of {len(served):,} requests ({100 * share:.1f} % of block references) hold more "
                f"distinct blocks than the capacity of {self.capacity:,} and were left out, the first of them request "
                f"{skipped[0]} with {self.frame.distinct[skipped[0]]:,}"
            )
        if self.settings.pin and self_evictions.any():
            yield f"{self.policy.name} does not honour pins: it evicted {self_evictions.sum():,} pinned blocks"
        yield from (self.policy.without[what] for what in self.policy.without if not _has(self.trace, what))
        if self.trace.definition.identity == "raw":
            yield "ids are taken as they are (identity raw): a block may follow different blocks, and itself"
            if self.cost.depends_on_position:
                yield f"cost {self.cost.name} depends on the position, and a raw id may stand at several"

    def _blamed(self) -> AbstractContextManager[None]:
        return blamed(self.policy)

    def _fingerprint(self) -> tuple[Any, ...]:
        trace = self.trace
        columns = (trace.span_offsets, trace.span_first, trace.span_length, trace.arrival_ns)
        digest = 0
        for column in (*columns, self.frame.full_blocks, self.frame.cost_sum, *_arrays(self.frame.context)):
            digest = zlib.crc32(column.tobytes(), digest)
        settings = {name: value for name, value in self.settings.as_dict().items() if name != "match"}
        return __version__, settings, self.capacity, trace.n_requests, digest


def _has(trace: Trace, what: str) -> bool:
    """Whether the trace tells ``time``, ``category``, ``session`` or ``tenant`` of any request, or is a ``tree``."""
    if what in ("time", "tree"):
        return trace.definition.time_unit != "none" if what == "time" else bool(trace.contract)
    labels = trace.request_type if what == "category" else getattr(trace, what)
    columns = [None if labels is None else labels.codes, trace.turn if what == "category" else None]
    return any(column is not None and bool((column >= 0).any()) for column in columns)


def _arrays(state: Any) -> Iterator[np.ndarray]:
    """The arrays of a NamedTuple of arrays, numbers and further NamedTuples, in order."""
    if isinstance(state, np.ndarray):
        yield state
    elif isinstance(state, tuple):
        for part in state:
            yield from _arrays(part)
