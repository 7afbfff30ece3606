"""workload_aware by hand: what classes learn, which block goes first, and its twin on longer traces."""

from __future__ import annotations

import numpy as np
import pytest

from hitcurve.simulation import Simulation
from hitcurve.trace import Labels, Trace
from tests.policies.test_twins import compare_with_twin
from tests.policies.trees import conversations

PRIOR = 1e6


def simulation_of(requests, classes, capacity, **options):
    trace = Trace.of_requests(requests, request_type=Labels.of(list(classes)))
    return Simulation(trace, "workload_aware", capacity, verify=True, **options)


def residents(simulation):
    return np.flatnonzero(simulation.frame.resident).tolist()


@pytest.mark.parametrize("deepest_first", [True, False])
@pytest.mark.parametrize("pin", [True, False])
def test_equals_its_twin_on_conversations(pin, deepest_first):
    for seed in range(3):
        for capacity in (31, 60):
            compare_with_twin("workload_aware", conversations(seed), capacity, pin, deepest_first, seed)


def test_means_are_moving_averages_of_the_gaps():
    """Block 0 of class a is used at 0, 1 and 4, block 1 of class b at 2, 3 and 5, whoever uses it."""
    simulation = simulation_of([[7], [7], [8], [8], [7], [8]], "aabbba", 2).run()
    (a, b), frame = simulation.state.category.tolist(), simulation.frame
    assert [a, b] == frame.context.category[[0, 2]].tolist()
    first = 0.95 * PRIOR + 0.05 * 1
    assert simulation.state.mean[a] == 0.95 * first + 0.05 * 3
    assert simulation.state.mean[b] == 0.95 * first + 0.05 * 2
    overall = PRIOR
    for gap in (1, 1, 3, 2):
        overall = 0.95 * overall + 0.05 * gap
    assert simulation.state.mean[-1] == overall


def test_what_a_class_has_learnt_outlives_its_blocks():
    simulation = simulation_of([[7], [7], [8], [7]], "aaba", 1).run()
    assert simulation.state.mean[simulation.frame.context.category[0]] == 0.95 * PRIOR + 0.05


def test_the_lowest_chance_goes_not_the_oldest_block():
    """Block 0 is used every ten accesses, blocks 1 and 2 of another class more often.  As block 1 falls idle, its
    chance soon is less than that of block 0, which is older."""
    rounds = [[0], *[[1]] * 5, *[[2]] * 4] * 200
    victims = []
    for idle in range(12):
        requests = [*rounds, *[[2]] * idle, [3]]
        simulation = simulation_of(requests, "".join("abbc"[block] for (block,) in requests), 3)
        assert residents(simulation.run(len(requests) - 1)) == [0, 1, 2]
        mean, overall = simulation.state.mean[:2], simulation.state.mean[-1]
        chance = np.exp(-np.array([10, 5]) / mean - idle / mean) * (1 - np.exp(-overall / mean))
        victims.append(int(chance.argmin()))
        assert residents(simulation.run()) == sorted({0, 1, 2, 3} - {victims[-1]})
    assert victims[0] == 0 and victims[-1] == 1


@pytest.mark.parametrize(("last", "victims"), [([[9]], {1}), ([[8, 9]], {1, 2}), ([[8], [9]], {1, 0})])
def test_of_equal_chances_the_deepest_goes_then_the_class_that_came_up_first(last, victims):
    """Blocks 0 and 1 (below it) are of class a, block 2 of class b; all have been idle for a thousand mean gaps, which
    leaves no chance to compare.  After a victim a class comes up anew, behind the others."""
    requests = [[0, 1], *[[0]] * 400, *[[2]] * 400, *[[3]] * 2000]
    classes = "a" * 401 + "b" * 400 + "c" * 2000
    simulation = simulation_of([*requests, *last], classes + "c" * len(last), 4)
    assert residents(simulation.run(len(requests))) == [0, 1, 2, 3]
    assert (np.exp(-2000 / simulation.state.mean[:2]) == 0).all()
    assert set(range(4)) - set(residents(simulation.run())) == victims
