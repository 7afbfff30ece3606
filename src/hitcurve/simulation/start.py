"""simulate(): one policy at one capacity in one call; simulations(): several, one after the other."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from hitcurve.costs import Cost, cost_named
from hitcurve.errors import BadParameter, HitcurveError
from hitcurve.kernels.frame import Context
from hitcurve.policies import policy_named
from hitcurve.policies.policy import Policy
from hitcurve.simulation.prefixsim import write_holes
from hitcurve.simulation.prepared import Prepared
from hitcurve.simulation.result import Failure, Result, Settings
from hitcurve.simulation.run import Simulation
from hitcurve.trace import Trace

ZERO = np.zeros(1, np.int64)
SMALLEST = Context(ZERO, ZERO, ZERO, ZERO, parent=np.full(1, -1, np.int32))  # of one request with one block
Holes = bool | str | os.PathLike[str] | None


def simulate(
    trace: Trace | Prepared,
    policy: str | Policy = "lru",
    capacity: int | None = None,
    *,
    cost: str | Cost = "uniform",
    pin: bool = True,
    replay_order: str = "deepest-first",
    seed: int = 0,
    params: Mapping[str, Any] | None = None,
    holes: Holes = None,
    verify: bool = False,
    kernel: str = "auto",
    match: str = "gaps",
    progress: Callable[[int, int], None] | None = None,
) -> Result:
    """Serve all requests of ``trace`` from an empty cache of ``capacity`` blocks (None: room for everything).

    ``holes``: True keeps every hole in the result, a folder also writes PrefixSim's file into it.  ``progress(requests
    done, requests in all)``.  The rest as for Simulation.  O(references), times the policy's own cost of an access.

    A UserWarning tells of requests that do not fit.  Errors: UnknownName, BadParameter, UnsupportedTrace for what was
    asked, SimulationError for a policy that breaks its contract.

    >>> from hitcurve import Trace
    >>> result = simulate(Trace.of_requests([[1, 2, 3], [4], [1, 2, 3]]), "lru", capacity=4)
    >>> result.n_block_hits, result.n_blocks, result.block_hit_ratio == 3 / 7
    (3, 7, True)
    """
    simulation = Simulation(
        trace, policy, capacity, cost=cost, pin=pin, replay_order=replay_order, seed=seed, params=params,
        holes=bool(holes), verify=verify, kernel=kernel, match=match,
    )  # fmt: skip
    result = simulation.run(progress=progress).result()
    if result.n_req_skipped:
        warnings.warn(next(note for note in result.notes if "left out" in note), stacklevel=2)
    if holes and not isinstance(holes, bool):
        write_holes(result, holes)
    return result


def simulations(
    trace: Trace | Prepared,
    policies: Sequence[str | Policy],
    capacities: Sequence[int | None],
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
    progress: Callable[[Settings, int, int], None] | None = None,
) -> Iterator[Result | Failure]:
    """Every policy at every capacity, one Result at a time; a run that fails yields a Failure and the others go on.

    ``params``: ``{"s3fifo.small": 0.2}``, each for the policy before the dot.  What was asked is checked at once,
    before the first run; what runs share (distinct counts, next uses) is worked out once.
    """
    prepared = trace if isinstance(trace, Prepared) else Prepared(trace)
    chosen = [policy if isinstance(policy, Policy) else policy_named(policy) for policy in policies]
    own = distributed(params or {}, chosen)
    price = cost if isinstance(cost, Cost) else cost_named(cost)
    for policy in chosen:
        _check_range(policy, own[policy.name])

    def runs() -> Iterator[Result | Failure]:
        for policy in chosen:
            values = policy.with_params(**own[policy.name])._asdict()
            for capacity in capacities:
                asked = Settings(policy.name, values, capacity, price.name, pin, replay_order, seed, kernel, match)
                outcome: Result | Failure
                try:
                    simulation = Simulation(
                        prepared, policy, capacity, cost=price, pin=pin, replay_order=replay_order, seed=seed,
                        params=values, holes=holes, verify=verify, kernel=kernel, match=match,
                    )  # fmt: skip
                    outcome = simulation.run(progress=progress and partial(progress, asked)).result()
                except HitcurveError as error:
                    outcome = Failure(prepared.trace, asked, str(error))
                yield outcome

    return runs()


def _check_range(policy: Policy, params: Mapping[str, Any]) -> None:
    """BadParameter where a parameter is out of its range.  Whatever else is wrong with a policy fails its own run."""
    values = policy.with_params(**params)
    try:
        policy.state(1, 1, values, 0, SMALLEST)
    except BadParameter:
        raise
    except Exception:  # a user's own policy file: reported with its line when it runs
        return


def distributed(params: Mapping[str, Any], policies: Sequence[Policy]) -> dict[str, dict[str, Any]]:
    """``{"s3fifo.small": 0.2}`` as ``{"s3fifo": {"small": 0.2}}``; BadParameter, UnknownName for what does not fit."""
    own: dict[str, dict[str, Any]] = {policy.name: {} for policy in policies}
    for dotted, value in params.items():
        name, dot, param = dotted.rpartition(".")
        if not dot:
            raise BadParameter(f"parameter {dotted!r}: wanted POLICY.NAME=VALUE, as s3fifo.small=0.2")
        if name not in own:
            raise BadParameter(f"parameter {dotted!r}: policy {name!r} is not among those asked for ({', '.join(own)})")
        own[name][param] = value
    for policy in policies:
        policy.with_params(**own[policy.name])
    return own
