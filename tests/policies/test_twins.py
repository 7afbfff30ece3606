"""Every policy equals its slow twin in every count and every victim's consequence, on random tree-shaped traces."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.policies import NAMES, policy_named
from hitcurve.simulation import new_frame
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache
from tests.policies.trees import in_context

# Without LightGBM, an extra, the learned ones cannot run; ``test_learned.py`` then says that they are skipped.
UNABLE = () if importlib.util.find_spec("lightgbm") else ("lrb", "3lcache")
WRITTEN = [n for n in NAMES if n not in UNABLE and importlib.util.find_spec(f"hitcurve.policies.{n.replace('-', '_')}")]

raw_requests = st.lists(st.lists(st.integers(0, 2), max_size=9), max_size=40)
long_tail = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=3), max_size=60)


@pytest.mark.parametrize("name", WRITTEN)
@settings(max_examples=60, deadline=None)
@given(
    requests=st.one_of(raw_requests, long_tail),
    capacity=st.integers(1, 40),
    pin=st.booleans(),
    deepest_first=st.booleans(),
    seed=st.integers(0, 3),
)
def test_equals_its_twin(name, requests, capacity, pin, deepest_first, seed):
    compare_with_twin(name, requests, capacity, pin, deepest_first, seed)


# Parameters under which small traces reach what the defaults keep for large ones.
OTHER_PARAMETERS = [
    ("clock", {"bits": 2, "initial": 1}),
    ("slru", {"segments": 2}),
    ("twoq", {"once": 0.6, "ghost": 0.2}),
    ("s3fifo", {"small": 0.5, "ghost": 0.2, "threshold": 1}),
    ("s4fifo", {"small": 0.5, "threshold": 1, "skip": 0.6}),
    ("s4fifo", {"small": 0.9, "threshold": 1, "skip": 1, "ghost": 2, "ghost_threshold": 1}),
    ("qdlp", {"small": 0.4, "ghost": 0.3, "threshold": 2}),
    ("lru-prob", {"probability": 0.1}),
    ("fifo-merge", {"examine": 4, "keep": 2}),
    ("fifo-merge", {"examine": 3, "keep": 0}),
    ("wtinylfu", {"window": 0.4, "protected": 0.5}),
    ("wtinylfu", {"window": 1}),
    ("asym_cache", {"block_clock": 1}),
    ("session_random_compute", {"n_samples": 2}),
    ("leaf_slru", {"protected_uses": 1}),
    ("leaf_slru", {"protected_uses": 3}),
    ("leaf_priority", {"most": 3}),
    ("ttl", {"seconds": 0}),
    ("ttl", {"seconds": 1.25}),
    ("ttl", {"seconds": 41}),
    ("lmcache_lru", {"chunk": 2}),
    ("lmcache_lru", {"chunk": 3}),
    ("mooncake_lru", {"watermark": 0.5, "ratio": 0.3, "lease": 1}),
    ("mooncake_lru", {"watermark": 1, "ratio": 0.5, "lease": 40.25}),
    ("mooncake_lru", {"watermark": 0, "ratio": 0, "lease": 0.25}),
    ("trtllm_priority", {"front": 1}),
    ("trtllm_priority", {"front": 2, "front_priority": 80, "seconds": 1}),
    ("trtllm_priority", {"front": 2, "front_priority": 20, "rest_priority": 60, "seconds": 40.25}),
    ("partial_node_random_compute", {"mode": "drain", "n_sample": 2}),
    ("partial_node_random_freq", {"evict_from": "tail", "micro_batch": 2, "n_sample": 2}),
    ("partial_node_random_compute_small_queue", {"small": 0.5, "threshold": 1, "n_sample": 2, "adaptive_step": 1}),
    ("randomlru", {"n_samples": 1}),
    ("hyperbolic", {"n_samples": 3}),
    ("random_compute", {"n_samples": 5}),
    ("random_compute_small_queue", {"n_samples": 2, "one_hit_penalty": 0.5}),
    ("belady_compute", {"n_samples": 3}),
]


@pytest.mark.parametrize(("name", "given_params"), OTHER_PARAMETERS)
@settings(max_examples=40, deadline=None)
@given(
    requests=st.one_of(raw_requests, long_tail),
    capacity=st.integers(1, 24),
    pin=st.booleans(),
    deepest_first=st.booleans(),
    seed=st.integers(0, 3),
)
def test_equals_its_twin_under_other_parameters(name, given_params, requests, capacity, pin, deepest_first, seed):
    compare_with_twin(name, requests, capacity, pin, deepest_first, seed, **given_params)


def compare_with_twin(name, requests, capacity, pin, deepest_first, seed, *, price=lambda p: 865.0 + 2 * p, **params):
    trace, context = in_context(requests, seed)
    policy = policy_named(name)
    values = policy.with_params(**params)
    cost = np.array([price(position) for position in range(40)])
    frame = new_frame(trace, capacity, cost, pin=pin, deepest_first=deepest_first, needs=policy.needs, hole_log=2000)
    state = policy.state(trace.n_blocks, capacity, values, seed, frame.context)
    for r in range(trace.n_requests):
        assert policy.replay(frame, state, r, r + 1) == r + 1
        policy.check(state, frame)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    twin = twin_named(name, capacity, values, seed)
    slow = NaiveCache(twin, capacity, paths, pin=pin, deepest_first=deepest_first, cost=price, context=context)
    expected = slow.run()
    assert frame.served.astype(bool).tolist() == expected.served
    assert frame.hits.tolist() == expected.hits
    assert frame.prefix_hits.tolist() == expected.prefix_hits
    assert frame.evictions.tolist() == expected.evictions
    assert frame.self_evictions.tolist() == expected.self_evictions
    assert frame.overshoots.tolist() == expected.overshoots
    assert frame.releases.tolist() == expected.releases
    assert frame.saved.tolist() == expected.saved
    assert set(np.flatnonzero(frame.resident).tolist()) == slow.resident
    logged = frame.hole_log[: frame.numbers[8]].tolist()
    assert logged == [[r, start, length] for r, holes in enumerate(expected.holes) for start, length in holes]
