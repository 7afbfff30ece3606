"""asym_cache by hand: the lifetime it fits, what it then evicts, and its twin where costs differ widely."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from hitcurve.policies import policy_named
from hitcurve.policies.asym_cache import FROZEN, SECOND, L
from hitcurve.simulation import Simulation
from hitcurve.trace import Trace
from tests.policies.test_twins import compare_with_twin
from tests.policies.trees import conversations


def simulation_of(requests, times, capacity, **options):
    """Without ``times`` the trace has none."""
    trace = Trace.of_requests(requests, times=times or [0.0] * len(requests))
    if times is None:
        trace = replace(trace, definition=replace(trace.definition, time_unit="none"))
    return Simulation(trace, "asym_cache", capacity, verify=True, **options)


def fitted(simulation):
    assert simulation.state.numbers[FROZEN] == 1
    return simulation.state.numbers[L]


def residents(simulation):
    return np.flatnonzero(simulation.frame.resident).tolist()


@pytest.mark.parametrize("pin", [True, False])
@pytest.mark.parametrize("block_clock", [0, 1])
@pytest.mark.parametrize("price", [lambda p: 1 + p**4, lambda p: (40 - p) ** 4, lambda p: 7 * p % 5])
def test_equals_its_twin_whatever_the_costs(price, block_clock, pin):
    for seed in range(3):
        for capacity in (31, 60):
            requests = conversations(seed, n=120)
            compare_with_twin(
                "asym_cache", requests, capacity, pin, deepest_first=seed != 1, seed=seed, price=price,
                block_clock=block_clock,
            )  # fmt: skip


def test_the_lifetime_is_the_99th_percentile_of_positive_gaps():
    gaps = [3] * 150 + [5] * 48 + [50, 90]  # 200 of them: number 198 from 0 is the one
    times = np.concatenate([np.repeat(np.cumsum([0, *gaps]), 2), [1000, 1001]])
    requests = [[0], [0]] * 201 + [[1], [2]]
    assert fitted(simulation_of(requests, times.tolist(), 2).run()) == 50 * SECOND


def test_the_lifetime_is_a_second_at_least():
    assert fitted(simulation_of([[0], [0], [1], [2]], [0, 0.25, 1, 2], 2).run()) == SECOND


def test_without_a_gap_the_lifetime_falls_back():
    for times, block_clock, life in (([0, 0.5, 1], 0, 180 * SECOND), ([0, 0.5, 1], 1, 200_000), (None, 0, 200_000)):
        simulation = simulation_of([[0], [1], [2]], times, 2, params={"block_clock": block_clock}).run()
        assert fitted(simulation) == life


def test_the_lifetime_is_frozen_at_the_first_eviction():
    requests, times = [[0], [0], [1], [2], [1], [1]], [0, 10, 11, 12, 500, 1500]
    simulation = simulation_of(requests, times, 2)
    assert fitted(simulation.run(4)) == fitted(simulation.run()) == 10 * SECOND


def test_a_dear_block_stays_until_its_age_has_eaten_its_cost():
    """Block 0 costs 1, block 1 after it 12, the rest 1; the lifetime is 100 s, and blocks 0 and 1 are ``age`` s old."""
    a, victims = 100 / log(2), []
    for age in (50, 90, 99, 100, 105, 106, 107, 110, 120):
        times = [0, 0, 100, 100 + age - 1, 100 + age, 100 + age]
        requests = [[0], [0, 1], [0, 1], [2], [3], [4]]
        simulation = simulation_of(requests, times, 3, cost="linear:1,11")
        assert residents(simulation.run(5)) == [1, 2, 3]
        assert fitted(simulation) == 100 * SECOND
        chance = exp(-age / a) if age < 100 else exp(-(age - 97.5) / (a / 40))
        expected = {1: 12 * chance, 2: exp(-1 / a), 3: 1}
        victims.append(min(expected, key=expected.__getitem__))
        assert residents(simulation.run()) == sorted({1, 2, 3, 4} - {victims[-1]})
    assert victims == [2, 2, 2, 2, 2, 2, 1, 1, 1]


def test_no_times_means_the_block_clock():
    requests = conversations(seed=4)
    timeless = simulation_of(requests, None, 40, cost="position").run().result()
    times = [float(r) for r in range(len(requests))]
    clocked = simulation_of(requests, times, 40, cost="position", params={"block_clock": 1}).run().result()
    assert timeless.requests["n_block_hits"].tolist() == clocked.requests["n_block_hits"].tolist()
    (note,) = timeless.notes
    assert note == policy_named("asym_cache").without["time"]
    assert clocked.notes == ()
