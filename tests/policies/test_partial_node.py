"""The partial-node policies: their twins on longer traces, and how they relate to others and to themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, UnknownName
from hitcurve.kernels.prefix_tree import listed
from hitcurve.policies import policy_named
from hitcurve.simulation import Prepared, Simulation, simulate
from hitcurve.synth import synthesize
from hitcurve.trace import Trace
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache
from tests.policies.trees import conversations, raw_requests

NAMES = ("partial_node_random_compute", "partial_node_random_freq", "partial_node_random_compute_small_queue")
EVERY = pytest.mark.parametrize("name", NAMES)

common = {
    "n_sample": st.sampled_from([1, 2, 5, 32]),
    "evict_from": st.sampled_from(["head", "tail"]),
    "micro_batch": st.sampled_from([1, 3, 8, 64]),
    "mode": st.sampled_from(["micro", "drain"]),
}
queue = {
    "small": st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    "ghost": st.sampled_from([0.0, 0.5, 0.9]),
    "threshold": st.sampled_from([0, 1, 2]),
    "small_evict": st.sampled_from(["fifo", "cost"]),
    "small_window": st.sampled_from([1, 4, 64]),
    "small_bypass_mult": st.sampled_from([0.0, 1.0, 1.5]),
    "adaptive_step": st.sampled_from([0.0, 0.3, 1.0, 50.0]),
}


def params_of(name):
    return st.fixed_dictionaries(common | queue if name.endswith("queue") else common)


def equals_its_twin(name, trace, capacity, pin, order, seed, params):
    """Costs that grow steeply, so that it matters which block stands for a node."""
    simulation = Simulation(
        trace, name, capacity, cost="position", pin=pin, replay_order=order, seed=seed, params=params, verify=True
    ).run()  # fmt: skip
    twin = twin_named(name, capacity, policy_named(name).with_params(**params), seed)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    slow = NaiveCache(
        twin, capacity, paths, pin=pin, deepest_first=order != "prefix", cost=lambda position: position + 1.0
    )  # fmt: skip
    expected, frame = slow.run(), simulation.frame
    assert frame.hits.tolist() == expected.hits
    assert frame.saved.tolist() == expected.saved
    assert frame.evictions.tolist() == expected.evictions
    assert frame.self_evictions.tolist() == expected.self_evictions
    assert frame.holes.tolist() == [len(holes) for holes in expected.holes]
    assert set(np.flatnonzero(frame.resident).tolist()) == slow.resident
    if name.endswith("queue"):
        assert simulation.state.share[0] == twin.share


@EVERY
@settings(max_examples=40, deadline=None)
@given(
    data=st.data(),
    trace_seed=st.integers(0, 20),
    capacity=st.integers(20, 150),
    pin=st.booleans(),
    order=st.sampled_from(["deepest-first", "prefix"]),
    seed=st.integers(0, 3),
)
def test_equals_its_twin_on_conversations(name, data, trace_seed, capacity, pin, order, seed):
    trace = Trace.of_requests(conversations(trace_seed, n=100, longest=40))
    equals_its_twin(name, trace, capacity, pin, order, seed, data.draw(params_of(name)))


@EVERY
@settings(max_examples=60, deadline=None)
@given(data=st.data(), requests=raw_requests, capacity=st.integers(1, 12), pin=st.booleans(), seed=st.integers(0, 3))
def test_equals_its_twin_where_ids_form_no_tree(name, data, requests, capacity, pin, seed):
    trace = Trace.of_requests(requests, identity="raw")
    equals_its_twin(name, trace, capacity, pin, "deepest-first", seed, data.draw(params_of(name)))


# Laws.

prompts = st.lists(st.integers(0, 6), max_size=60)
lengths = st.lists(st.integers(1, 12), min_size=7, max_size=7)


def whole_prompts(order, lengths):
    """Requests that have nothing in common, or everything."""
    return Trace.of_requests([[100 * prompt + p for p in range(lengths[prompt])] for prompt in order])


def per_request(trace, name, capacity, **options):
    """Hits, evictions and holes of every request, and what is resident at the end."""
    s = Simulation(trace, name, capacity, kernel="blocks", **options).run()
    return [column.tolist() for column in (s.frame.hits, s.frame.evictions, s.frame.holes, s.frame.resident)]


@settings(max_examples=40, deadline=None)
@given(order=prompts, lengths=lengths, capacity=st.integers(12, 60), pin=st.booleans(), seed=st.integers(0, 3))
def test_micro_in_one_batch_is_drain_where_all_blocks_of_a_node_score_alike(order, lengths, capacity, pin, seed):
    """Otherwise the two look at different representatives, so that no more than this is a law."""
    trace, name = whole_prompts(order, lengths), NAMES[0]
    micro, drain = (
        per_request(
            trace, name, capacity, pin=pin, seed=seed,
            params={"mode": mode, "micro_batch": capacity, "n_sample": 2},
        )
        for mode in ("micro", "drain")
    )  # fmt: skip
    assert micro == drain


@EVERY
def test_drain_knows_no_batches(name):
    trace = Trace.of_requests(conversations(3))
    runs = [per_request(trace, name, 50, params={"mode": "drain", "micro_batch": n}) for n in (1, 64)]
    assert runs[0] == runs[1]


@EVERY
@pytest.mark.parametrize("mode", ["micro", "drain"])
def test_the_seed_does_nothing_where_all_nodes_are_looked_at(name, mode):
    trace = Trace.of_requests(conversations(4))
    params = {"n_sample": trace.n_blocks, "mode": mode}
    runs = [per_request(trace, name, 60, seed=seed, params=params) for seed in (0, 1)]
    assert runs[0] == runs[1]
    assert runs[0] != per_request(trace, name, 60, params={**params, "n_sample": 1})


@settings(max_examples=40, deadline=None)
@given(blocks=st.lists(st.integers(0, 9), max_size=80), capacity=st.integers(3, 12), pin=st.booleans())
def test_looking_at_all_single_blocks_of_equal_cost_is_lru(blocks, capacity, pin):
    """From 3 blocks on: ages 0 and 1 count as one."""
    trace = Trace.of_requests([[block] for block in blocks])
    assert per_request(trace, NAMES[0], capacity, pin=pin) == per_request(trace, "lru", capacity, pin=pin)


@EVERY
@settings(max_examples=20, deadline=None)
@given(
    trace_seed=st.integers(0, 99),
    capacity=st.integers(20, 90),
    pin=st.booleans(),
    mode=common["mode"],
)
def test_from_the_tail_a_node_keeps_its_leading_blocks(name, trace_seed, capacity, pin, mode):
    """Also behind a small queue that every block passes by; its own blocks go in another order."""
    trace = Trace.of_requests(conversations(trace_seed, n=60))
    params = {"evict_from": "tail", "mode": mode, "micro_batch": 2, "n_sample": 3}
    if name.endswith("queue"):
        params |= {"small_bypass_mult": 1e-9}
    simulation = Simulation(trace, name, capacity, pin=pin, params=params)
    for r in range(trace.n_requests):
        simulation.run(r + 1)
        for blocks, _ in listed(simulation.state.tree):
            here = simulation.frame.resident[blocks].tolist()
            assert here == sorted(here, reverse=True)


def test_a_small_queue_that_every_block_passes_by_does_nothing():
    """Without pins: with them the order of the nodes may differ, and so what is drawn."""
    for seed in range(5):
        trace = Trace.of_requests(conversations(seed))
        options = {"pin": False, "cost": "position", "seed": seed}
        with_it = per_request(trace, NAMES[2], 60, params={"n_sample": 3, "small_bypass_mult": 1e-9}, **options)
        assert with_it == per_request(trace, NAMES[0], 60, params={"n_sample": 3}, **options)


def returning(distance, hits):
    """One new block after another, hit so often at once, and each comes back when ``distance`` others have entered."""
    return [[block] for n in range(600) for block in [n] * (1 + hits) + [n - distance] * (n >= distance)]


@pytest.mark.parametrize("pin", [True, False])
@pytest.mark.parametrize(("requests", "grows"), [(returning(20, hits=0), True), (returning(150, hits=2), False)])
def test_the_border_moves_both_ways(requests, grows, pin):
    trace, params = Trace.of_requests(requests), {"adaptive_step": 1.0, "small": 0.2}
    simulation = Simulation(trace, NAMES[2], 100, pin=pin, params=params).run()
    assert (simulation.state.share[0] > 21) if grows else (simulation.state.share[0] < 19)
    equals_its_twin(NAMES[2], trace, 100, pin, "deepest-first", 0, params)


@EVERY
@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"n_sample": 0}, BadParameter),
        ({"micro_batch": 0}, BadParameter),
        ({"mode": "macro"}, UnknownName),
        ({"evict_from": "root"}, UnknownName),
    ],
)
def test_what_cannot_be_is_refused(name, params, error):
    with pytest.raises(error, match=name):
        simulate(Trace.of_requests([[1]]), name, 5, params=params)


@pytest.mark.parametrize("wrong", [{"small": 1.5}, {"ghost": -1}, {"adaptive_step": -1}, {"small_window": 0}])
def test_what_no_queue_can_be_is_refused(wrong):
    with pytest.raises(BadParameter, match=NAMES[2]):
        simulate(Trace.of_requests([[1]]), NAMES[2], 5, params=wrong)


# Observations on generated traces.  They would tell if a rule were no longer what it was.


@pytest.mark.parametrize("seed", [2, 3])
def test_pieces_leave_few_holes_and_save_as_much(seed):
    prepared = Prepared(synthesize(sessions=60, seed=seed))

    def result(name, **params):
        return simulate(prepared, name, 3000, cost="qwen3coder30b_blksz_64", params=params)

    blocks, micro, drain = result("random_compute"), result(NAMES[0]), result(NAMES[0], mode="drain")
    assert blocks.holes_per_request - 1 > 5 * (micro.holes_per_request - 1) > 0
    assert micro.holes > drain.holes  # pieces of many nodes, where drain takes few nodes whole
    assert abs(micro.compute_saving_ratio - blocks.compute_saving_ratio) < 0.005
    tail = result(NAMES[0], evict_from="tail")
    assert tail.prefix_hit_ratio > micro.prefix_hit_ratio and tail.holes < micro.holes
