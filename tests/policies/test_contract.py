"""The contract between the request loop and every policy, on random traces, for all policies alike.

Equality with each policy's slow twin is ``test_twins.py``; here stands what must hold whatever the policy decides.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.policies import policy_named
from hitcurve.policies.ranges import NAMES as RANGES
from hitcurve.simulation import Prepared, Simulation
from hitcurve.simulation.kernel import resident_blocks
from hitcurve.trace import Trace
from tests.policies.test_twins import WRITTEN
from tests.policies.trees import block_requests, conversations, in_context, raw_requests, tree_requests

CAPACITIES = (1, 2, 5, 20)
FORMS = [*WRITTEN, *(f"{name} on ranges" for name in RANGES)]
EVERY = pytest.mark.parametrize("name", FORMS)
capacities = st.one_of(st.sampled_from(CAPACITIES), st.integers(1, 60))
orders = st.sampled_from(["deepest-first", "prefix"])


def traced(requests):
    """With drawn times, sessions, types and turns."""
    return in_context(requests, len(requests))[0]


def simulation_of(trace, name, capacity, **options):
    """A policy in its form block by block, or, where it is named so and the options allow it, on ranges."""
    definition = (trace.trace if isinstance(trace, Prepared) else trace).definition
    ranges = name.endswith(" on ranges") and options.get("pin", True) and definition.identity == "prefix"
    kernel = "ranges" if ranges else "blocks"
    return Simulation(trace, name.removesuffix(" on ranges"), capacity, kernel=kernel, **options)


def run(trace, name, capacity, **options):
    return simulation_of(trace, name, capacity, **options).run()


def accounts_balance(simulation, requests):
    """Every identity between the counts of a finished run."""
    result = simulation.result()
    r = result.as_dict()
    served = [blocks for blocks, one in zip(requests, result.requests["n_req"], strict=True) if one]
    assert r["n_req"] + r["n_req_skipped"] == len(requests)
    assert r["n_blocks"] == sum(len(blocks) for blocks in served)
    assert r["prefix_hit_blocks"] <= r["n_block_hits"] <= r["n_blocks"]
    assert r["n_unexpected_eviction"] == 0
    misses = r["n_blocks"] - r["n_block_hits"]
    holes = result.hole_list
    assert len(holes) == r["holes"] and holes[:, 2].sum() == misses
    assert r["holes_max"] == np.bincount(holes[:, 0], minlength=1).max()
    assert r["hole_length_max"] == holes[:, 2].max(initial=0)
    resident = int(np.count_nonzero(resident_blocks(simulation.frame)))
    assert resident <= simulation.capacity
    if simulation.trace.definition.identity == "prefix":  # else one missing block may be several misses
        assert misses + r["n_self_eviction"] - r["n_eviction"] - r["n_released"] == resident
    if r["pin"]:
        assert r["n_self_eviction"] == 0
    if r["cost"] == "uniform":
        assert r["compute_saving_ratio"] == r["block_hit_ratio"]
    return r


@EVERY
@settings(max_examples=25, deadline=None)
@given(
    requests=st.one_of(tree_requests, block_requests),
    capacity=capacities,
    pin=st.booleans(),
    order=orders,
    seed=st.integers(0, 3),
)
def test_accounts_balance(name, requests, capacity, pin, order, seed):
    trace = traced(requests)
    accounts_balance(
        run(trace, name, capacity, pin=pin, replay_order=order, seed=seed, holes=True, verify=True), requests
    )


@EVERY
@settings(max_examples=25, deadline=None)
@given(requests=raw_requests, capacity=capacities, pin=st.booleans(), order=orders)
def test_accounts_balance_where_ids_repeat_inside_a_request(name, requests, capacity, pin, order):
    trace = Trace.of_requests(requests, identity="raw")
    r = accounts_balance(run(trace, name, capacity, pin=pin, replay_order=order, holes=True, verify=True), requests)
    assert r["n_req"] == sum(len(set(blocks)) <= capacity for blocks in requests)


@EVERY
@pytest.mark.parametrize("capacity", [2, 20, 31, 120])
def test_accounts_balance_on_conversations(name, capacity):
    requests = conversations(seed=capacity)
    prepared = Prepared(traced(requests))
    for pin in (True, False):
        simulation = run(prepared, name, capacity, pin=pin, cost="linear:865,2", holes=True, verify=True)
        accounts_balance(simulation, requests)


# Laws that a policy cannot obey by its nature.
RELEASE = {  # free blocks although there is room
    name: "a block goes when no session's latest request holds it"
    for name in ("session_lru", "session_s3fifo", "session_arc", "session_belady", "session_random_compute")
} | {"ttl": "a block dies by age", "mooncake_lru": "the store is kept below its watermark"}


@EVERY
@settings(max_examples=20, deadline=None)
@given(requests=st.one_of(tree_requests, block_requests), spare=st.integers(0, 3), pin=st.booleans(), order=orders)
def test_room_for_everything_makes_all_policies_equal(name, requests, spare, pin, order):
    trace = traced(requests)
    for capacity in (None, trace.n_blocks + spare or 1):
        r = run(trace, name, capacity, pin=pin, replay_order=order).result()
        assert r.n_eviction == 0
        assert r.n_released == 0 or name in RELEASE, RELEASE
        if r.n_released == 0:
            assert r.n_block_hits == r.prefix_hit_blocks == trace.n_block_refs - trace.n_blocks


@EVERY
@settings(max_examples=25, deadline=None)
@given(requests=st.one_of(tree_requests, block_requests), capacity=capacities, pin=st.booleans(), order=orders)
def test_belady_is_never_beaten_on_block_hits(name, requests, capacity, pin, order):
    """A law for requests of any length, pinned or not: every policy must end each request with its blocks resident and
    evicts exactly as many others as it lacks room for, so exchanging any victim for the one used furthest in the future
    loses no hit.  It holds for resident positions; not for leading prefixes, nor where one request repeats a block.
    """
    prepared = Prepared(traced(requests))
    options = {"pin": pin, "replay_order": order}
    best = run(prepared, "belady", capacity, **options).result().n_block_hits
    assert run(prepared, name, capacity, **options).result().n_block_hits <= best


@EVERY
def test_same_seed_same_result(name):
    trace = traced(conversations(seed=5))
    first, again = (run(trace, name, 40, seed=7, holes=True).result() for _ in range(2))
    assert {**first.as_dict(), "seconds": 0, "blocks_per_second": 0} == {
        **again.as_dict(),
        "seconds": 0,
        "blocks_per_second": 0,
    }
    assert np.array_equal(first.hole_list, again.hole_list)


DRAWS = ("random", "randomtwo", "randomlru", "lru-prob", "hyperbolic", "lhd", "lecar", "cacheus", "fifo-merge")
DRAWS += ("random_compute", "random_compute_small_queue", "belady_compute", "lhd_compute")
DRAWS += ("session_random_compute",)
DRAWS += ("partial_node_random_compute", "partial_node_random_freq", "partial_node_random_compute_small_queue")
DRAWS += ("lrb", "3lcache")


@pytest.mark.parametrize("name", [name for name in WRITTEN if name in ("random", "randomtwo", "random_compute")])
def test_other_seed_other_draws(name):
    trace = traced(conversations(seed=5, n=400, longest=60))
    seen = {tuple(run(trace, name, 100, seed=seed).result().requests["n_block_hits"]) for seed in range(4)}
    assert len(seen) > 1


@pytest.mark.parametrize("name", [name for name in FORMS if name not in DRAWS])
def test_where_nothing_is_drawn_the_seed_does_nothing(name):
    trace = traced(conversations(seed=5))
    seen = {tuple(run(trace, name, 40, seed=seed).result().requests["n_block_hits"]) for seed in range(3)}
    assert len(seen) == 1


@EVERY
@pytest.mark.parametrize("pin", [True, False])
def test_slices_and_a_checkpoint_are_one_run(name, pin):
    trace = traced(conversations(seed=8))
    options = {"pin": pin, "cost": "position", "holes": True, "seed": 3}
    whole = run(trace, name, 35, **options)
    first = simulation_of(trace, name, 35, **options)
    for until in (0, 1, 1, 50, 51):
        first.run(until)
    saved = pickle.loads(pickle.dumps(first.checkpoint()))
    first.run()
    second = simulation_of(trace, name, 35, **options).resume(saved)
    assert second.position == 51
    second.run(100).run()
    for other in (first, second):
        assert np.array_equal(other.result().hole_list, whole.result().hole_list)
        assert np.array_equal(other.frame.resident, whole.frame.resident)
        for column, values in whole.result().requests.columns.items():
            assert np.array_equal(other.result().requests[column], values), column


def test_lru_hits_what_the_exact_curve_says():
    lru = pytest.importorskip("hitcurve.lru")
    for seed in range(4):
        trace = traced(conversations(seed))
        facts = lru.lru_facts(trace)
        for capacity in range(int(trace.request_blocks.max()), trace.n_blocks + 2):
            result = run(trace, "lru", capacity).result()
            assert result.n_block_hits == result.prefix_hit_blocks == facts.hit_blocks(capacity=capacity)


MEASURE = """
import json, sys
from hitcurve.policies.ranges import NAMES as RANGES
from hitcurve.simulation import Prepared, Simulation
from hitcurve.simulation.kernel import resident_blocks
from tests.policies.trees import conversations, in_context
prepared = Prepared(in_context(conversations(seed=1, n=60), 1)[0])
found = {}
for name in sys.argv[1:]:
    policy, on, _ = name.partition(" on ")
    runs = [Simulation(prepared, policy, capacity, pin=pin, cost="linear:865,2", verify=True,
                       kernel="ranges" if on and pin else "blocks").run().result()
            for capacity in (1, 2, 5, 20, 60) for pin in (True, False)]
    found[name] = [[r.n_block_hits, r.n_eviction, r.n_self_eviction, r.holes] for r in runs]
print(json.dumps(found))
"""


def measured(names=FORMS, **environment):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *names],
        env={**os.environ, **environment},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def compiled():
    return measured()


def test_interpreted_is_the_same(compiled):
    assert measured(NUMBA_DISABLE_JIT="1") == compiled


# Of the forms on ranges one: they take the longest to compile, and interpreted they meet every index that is too large.
BOUNDED = [*WRITTEN, "lru on ranges"]


@pytest.mark.parametrize("names", [BOUNDED[::2], BOUNDED[1::2]], ids=["even", "odd"])
def test_bounds_checked_is_the_same(names, compiled, tmp_path):
    # unoptimised code compiles in two thirds of the time, and an index out of bounds is one all the same
    checked = measured(names, NUMBA_BOUNDSCHECK="1", NUMBA_OPT="0", NUMBA_CACHE_DIR=str(tmp_path))
    assert checked == {name: compiled[name] for name in names}


def test_every_policy_is_listed_and_says_what_it_is():
    for name in WRITTEN:
        policy = policy_named(name)
        assert policy.name == name
        assert policy.title and policy.family
        assert "Differs from the paper" in policy.doc or "folklore" in policy.doc
        assert (policy.year is None) == (policy.paper == ""), name
