"""Learned policies with few examples a model, so that short traces make many: twins, the contract, what they learn.

With their defaults they are in the tables of ``test_twins.py`` and ``test_contract.py`` like all others; there they
rarely see enough to learn.
"""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("lightgbm")

from hitcurve.errors import BadParameter, HitcurveError
from hitcurve.kernels.history import RESIDENT, remembered
from hitcurve.kernels.learner import N
from hitcurve.kernels.queues import listed
from hitcurve.policies import learning, policy_named
from hitcurve.simulation import Simulation, new_frame
from hitcurve.trace import Trace
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache
from tests.policies.test_contract import accounts_balance
from tests.policies.trees import conversations, in_context

SMALL = {"examples": 20, "every": 1, "leaf_examples": 2, "n_trees": 4, "n_leaves": 6}
CASES = {
    "lrb": [
        {**SMALL, "n_samples": 6, "window": 2},
        {**SMALL, "n_samples": 3, "window": 1.5, "every": 2, "n_deltas": 2},
    ],
    "3lcache": [SMALL, {**SMALL, "window": 3, "kept": 1, "batch": 2}],
}
NAMES = list(CASES)
EACH = pytest.mark.parametrize(("name", "params"), [(name, params) for name in NAMES for params in CASES[name]])
EVERY = pytest.mark.parametrize("name", NAMES)


@EACH
@pytest.mark.parametrize(
    ("seed", "capacity", "pin", "deepest_first"),
    [(0, 30, True, True), (1, 40, False, True), (2, 50, True, False), (3, 60, False, False), (4, 70, True, True)],
)
def test_equals_its_twin_through_many_models(name, params, seed, capacity, pin, deepest_first):
    trace, context = in_context(conversations(seed, n=220, longest=24), seed)
    assert compare_with_twin(name, params, trace, context, capacity, pin, deepest_first, seed) >= 2


@EACH
@pytest.mark.parametrize("identity", ["prefix", "raw"])
def test_equals_its_twin_in_the_smallest_caches(name, params, identity):
    models = 0
    for seed in range(16):
        rng = random.Random(seed)
        ids = rng.choice([2, 3, 12] if identity == "prefix" else [12, 30])
        requests = [[rng.randrange(ids) for _ in range(rng.randrange(7))] for _ in range(80)]
        trace, context = in_context(requests, seed)
        if identity == "raw":
            trace, context = Trace.of_requests(requests, identity="raw"), None
        few = {**params, "examples": rng.randrange(3, 12), "leaf_examples": 1}
        capacity, pin, deepest_first = rng.randrange(1, 16), rng.random() < 0.5, rng.random() < 0.5
        models += compare_with_twin(name, few, trace, context, capacity, pin, deepest_first, seed)
    assert models >= 16


def compare_with_twin(name, params, trace, context, capacity, pin, deepest_first, seed):
    """The twin keeps its own features, labels and draws, and asks LightGBM's booster.  How many models it made."""
    policy = policy_named(name)
    given = policy.with_params(**params)
    options = {"pin": pin, "deepest_first": deepest_first, "needs": policy.needs}
    frame = new_frame(trace, capacity, np.ones(40), **options)
    state = policy.state(trace.n_blocks, capacity, given, seed, frame.context)
    for r in range(trace.n_requests):
        assert policy.replay(frame, state, r, r + 1) == r + 1
        policy.check(state, frame)
    twin = twin_named(name, capacity, given, seed)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    slow = NaiveCache(twin, capacity, paths, pin=pin, deepest_first=deepest_first, context=context)
    expected = slow.run()
    twin.learn_if_due()
    assert frame.hits.tolist() == expected.hits
    assert frame.evictions.tolist() == expected.evictions
    assert frame.self_evictions.tolist() == expected.self_evictions
    assert set(np.flatnonzero(frame.resident).tolist()) == slow.resident
    learner = state.learner
    assert remembered(learner.history) == twin.slots
    assert listed(learner.history.queues, RESIDENT)[::-1] == twin.lru
    n = learner.numbers[N]
    assert n == len(twin.rows)
    assert learner.labels[:n].tolist() == np.array(twin.labels, np.float32).tolist()
    assert learner.features[:n].tolist() == np.array(twin.rows, np.float32).tolist()
    return twin.models


@EACH
@pytest.mark.parametrize("capacity", [1, 2, 5, 20, 31, 120])
def test_accounts_balance_while_it_learns(name, params, capacity):
    requests = conversations(seed=capacity)
    trace = in_context(requests, capacity)[0]
    for pin in (True, False):
        options = {"pin": pin, "params": params, "cost": "linear:865,2"}
        simulation = Simulation(trace, name, capacity, holes=True, verify=True, **options).run()
        accounts_balance(simulation, requests)
        best = Simulation(trace, "belady", capacity, pin=pin, kernel="blocks").run().result()
        assert simulation.result().n_block_hits <= best.n_block_hits


@EACH
@pytest.mark.parametrize("capacity", [None, 2**62, 2**63 - 1])
def test_with_room_for_everything_there_is_nothing_to_learn(name, params, capacity):
    trace = Trace.of_requests(conversations(seed=1))
    simulation = Simulation(trace, name, capacity, params=params).run()
    assert simulation.result().n_block_hits == trace.n_block_refs - trace.n_blocks
    assert simulation.state.learner.numbers[N] == simulation.state.learner.trees.n_trees[0] == 0


@EACH
def test_accounts_balance_where_ids_repeat_inside_a_request(name, params):
    rng = np.random.default_rng(1)
    requests = [rng.integers(0, 60, rng.integers(1, 12)).tolist() for _ in range(300)]
    trace = Trace.of_requests(requests, identity="raw")
    for pin in (True, False):
        simulation = Simulation(trace, name, 20, pin=pin, params=params, holes=True, verify=True).run()
        accounts_balance(simulation, requests)
        assert simulation.state.learner.trees.n_trees[0] > 0


@EACH
def test_slices_and_a_checkpoint_are_one_run(name, params):
    trace = in_context(conversations(seed=8, n=300), 8)[0]
    options = {"params": params, "holes": True, "seed": 3}
    whole = Simulation(trace, name, 60, **options).run()
    first = Simulation(trace, name, 60, **options)
    for until in (0, 1, 1, 150, 151):
        first.run(until)
    assert first.state.learner.trees.n_trees[0] > 0, "the checkpoint holds a model"
    saved = pickle.loads(pickle.dumps(first.checkpoint()))
    first.run()
    second = Simulation(trace, name, 60, **options).resume(saved)
    assert second.position == 151
    second.run(200).run()
    for other in (first, second):
        assert np.array_equal(other.result().hole_list, whole.result().hole_list)
        assert np.array_equal(other.frame.resident, whole.frame.resident)
        for column, values in whole.result().requests.columns.items():
            assert np.array_equal(other.result().requests[column], values), column


@EVERY
def test_the_seed_decides(name):
    trace = in_context(conversations(seed=5, n=400), 5)[0]
    seen = [
        tuple(Simulation(trace, name, 80, params=CASES[name][0], seed=s).run().result().requests["n_block_hits"])
        for s in (0, 0, 1, 2)
    ]
    assert seen[0] == seen[1]
    assert len(set(seen)) == 3


@EVERY
def test_the_past_alone_is_learnt_from(name):
    """Two traces that go on differently: nothing before that differs."""
    requests = conversations(seed=9, n=300)
    other = requests[:200] + requests[:100][::-1]
    runs = [Simulation(in_context(r, 9)[0], name, 80, params=CASES[name][0]).run(200).frame for r in (requests, other)]
    assert runs[0].hits[:200].tolist() == runs[1].hits[:200].tolist()
    assert runs[0].evictions[:200].tolist() == runs[1].evictions[:200].tolist()


@EVERY
def test_it_learns_a_cycle(name):
    """30 blocks in turn, room for 20: LRU never hits.  Who has learnt when each is used next hits as most can."""
    trace = Trace.of_requests([[r % 30] for r in range(3000)])
    params = {**SMALL, "examples": 200, "n_trees": 16, "n_leaves": 16}
    hits = {
        policy: Simulation(trace, policy, 20, params=params if policy == name else {}).run().frame.hits[1500:].mean()
        for policy in ("lru", name, "belady")
    }
    assert hits["lru"] == 0 and hits["belady"] > 0.6
    assert hits[name] > 0.8 * hits["belady"]


@EVERY
def test_progress_is_seen_after_every_model(name):
    trace = in_context(conversations(seed=8, n=300), 8)[0]
    seen = []
    Simulation(trace, name, 60, params=CASES[name][0]).run(progress=lambda done, total: seen.append((done, total)))
    assert len(seen) > 3 and seen == sorted(set(seen)) and seen[-1] == (300, 300)


@EVERY
def test_without_lightgbm_it_says_what_to_install(name, monkeypatch):
    monkeypatch.setattr(learning, "find_spec", lambda module: None)
    with pytest.raises(HitcurveError, match=rf"^{name} needs LightGBM: pip install 'hitcurve\[learned\]'$"):
        Simulation(Trace.of_requests([[1]]), name, 4)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("lrb", {"window": 0.5}),
        ("lrb", {"n_samples": 0}),
        ("lrb", {"n_leaves": 1}),
        ("lrb", {"n_deltas": -1}),
        ("3lcache", {"window": 1}),
        ("3lcache", {"batch": 0}),
        ("3lcache", {"n_leaves": 256}),
        ("lrb", {"examples": 0}),
        ("3lcache", {"examples": 10_000_001}),
        ("lrb", {"n_trees": 1001}),
    ],
)
def test_parameters_have_limits(name, wrong):
    with pytest.raises(BadParameter, match=f"{name}: wanted .*window"):
        Simulation(Trace.of_requests([[1]]), name, 4, params=wrong)


MEASURE = """
import json, sys
from hitcurve.policies import policy_named
from hitcurve.simulation import Simulation
from tests.policies.trees import conversations, in_context
known = "lightgbm" in sys.modules
trace = in_context(conversations(seed=1, n=50, longest=16), 1)[0]
found = {name: Simulation(trace, name, 24, params=params).run().frame.hits.tolist()
         for name, params in json.loads(sys.argv[1]).items()}
print(json.dumps([known, found]))
"""


def measured(**environment):
    params = {name: CASES[name][0] for name in NAMES}
    command = [sys.executable, "-c", MEASURE, json.dumps(params)]
    root = Path(__file__).parents[2]
    done = subprocess.run(
        command, env={**os.environ, **environment}, cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    known, found = json.loads(done.stdout)
    assert not known, "LightGBM is imported before it is needed"
    return found


def test_interpreted_is_the_same():
    assert measured(NUMBA_DISABLE_JIT="1") == measured()
