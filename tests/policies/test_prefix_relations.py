"""How the policies made for prefix caches relate to others: laws on random traces, observations on a generated one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hitcurve.policies import policy_named, random_compute
from hitcurve.simulation import Prepared, Simulation
from hitcurve.synth import synthesize
from hitcurve.trace import Labels, Trace
from tests.naive.policies import twin_named
from tests.naive.simulation import NaiveCache, NaivePolicy
from tests.policies.trees import block_requests, in_context, tree_requests

requests_of_any_kind = st.one_of(tree_requests, block_requests)
capacities = st.integers(1, 40)
SESSION = ("session_lru", "session_s3fifo", "session_arc", "session_belady", "session_random_compute")


def simulated(trace, policy, capacity, **options):
    return Simulation(trace, policy, capacity, kernel="blocks", **options).run().result()


def columns(result, *names):
    return [result.requests[name].tolist() for name in names]


# laws


@settings(max_examples=60, deadline=None)
@given(
    requests=requests_of_any_kind,
    capacity=capacities,
    pin=st.booleans(),
    order=st.sampled_from(["deepest-first", "prefix"]),
)
def test_asym_cache_at_equal_costs_is_lru_in_prefix_order_by_the_block_clock(requests, capacity, pin, order):
    trace = Prepared(Trace.of_requests(requests))
    options = {"pin": pin, "replay_order": order}
    asym = simulated(trace, "asym_cache", capacity, params={"block_clock": 1}, **options)
    lru = simulated(trace, "lru", capacity, pin=pin, replay_order="prefix")
    counted = ("n_block_hits", "prefix_hit_blocks", "n_eviction", "n_self_eviction")
    assert columns(asym, *counted) == columns(lru, *counted)


def held_to_request_times(twin):
    """``twin``, whose every victim is one of those used least recently, by the time of the request that used them."""
    used = {}
    path, evict = twin.path, twin.evict

    def noted(request):
        used.update(dict.fromkeys(twin.cache.requests[request], twin.cache.context.arrival_ns[request]))
        path(request)

    def held(now):
        victim = evict(now)
        if victim is not None:
            free = [block for block in twin.cache.resident if not twin.cache.pinned(block)]
            assert used[victim] == min(used[block] for block in free)
        return victim

    twin.path, twin.evict = noted, held
    return twin


@settings(max_examples=60, deadline=None)
@example([[0], [0] * 9, [0, 1]], 9, False, False, 0)
@given(
    requests=requests_of_any_kind,
    capacity=capacities,
    pin=st.booleans(),
    deepest_first=st.booleans(),
    seed=st.integers(0, 3),
)
def test_asym_cache_at_equal_costs_is_lru_by_request_time(requests, capacity, pin, deepest_first, seed):
    trace, context = in_context(requests, seed)
    if not len(trace) or trace.arrival_ns[0] == trace.arrival_ns[-1]:
        return  # no time passes: the block clock
    order = "deepest-first" if deepest_first else "prefix"
    result = simulated(trace, "asym_cache", capacity, pin=pin, replay_order=order)
    paths = [trace.blocks(r).tolist() for r in range(len(trace))]
    twin = held_to_request_times(twin_named("asym_cache", capacity, policy_named("asym_cache").with_params(), seed))
    expected = NaiveCache(twin, capacity, paths, pin=pin, deepest_first=deepest_first, context=context).run()
    assert columns(result, "n_block_hits", "prefix_hit_blocks", "n_eviction", "n_self_eviction") == [
        expected.hits,
        expected.prefix_hits,
        expected.evictions,
        expected.self_evictions,
    ]


class FoundThenInserted(NaivePolicy):
    """LRU in which a request's blocks are used in another order: the found ones root first, then the inserted ones."""

    def __init__(self):
        self.order = []  # oldest first

    def path(self, request):
        for block in self.cache.requests[request]:
            if block in self.order:
                self.order.remove(block)
                self.order.append(block)

    def insert(self, block, position, now):
        self.order.append(block)

    def hit(self, block, position, now):
        pass

    def evict(self, now):
        victim = next(block for block in self.order if not self.cache.pinned(block))
        self.order.remove(victim)
        return victim


@settings(max_examples=60, deadline=None)
@given(requests=requests_of_any_kind, capacity=capacities, pin=st.booleans(), deepest_first=st.booleans())
def test_workload_aware_without_context_is_lru(requests, capacity, pin, deepest_first):
    trace = Prepared(Trace.of_requests(requests))
    order = "deepest-first" if deepest_first else "prefix"
    result = simulated(trace, "workload_aware", capacity, pin=pin, replay_order=order)
    paths = [trace.trace.blocks(r).tolist() for r in range(len(requests))]
    expected = NaiveCache(FoundThenInserted(), capacity, paths, pin=pin, deepest_first=deepest_first).run()
    assert columns(result, "n_block_hits", "n_eviction", "n_self_eviction") == [
        expected.hits,
        expected.evictions,
        expected.self_evictions,
    ]
    assert policy_named("workload_aware").without["category"] in result.notes
    if all(len(path) == 1 for path in paths):
        lru = simulated(trace, "lru", capacity, pin=pin, replay_order=order)
        assert columns(result, "n_block_hits", "n_eviction") == columns(lru, "n_block_hits", "n_eviction")


@pytest.mark.parametrize("name", [name for name in SESSION if name != "session_random_compute"])
@settings(max_examples=40, deadline=None)
@given(requests=block_requests, capacity=capacities)
def test_sessions_of_one_request_with_one_block_are_lru(name, requests, capacity):
    """A block leaves with the last session that claims it, which is the one of its latest request."""
    trace = Prepared(Trace.of_requests(requests))
    result, lru = (simulated(trace, policy, capacity) for policy in (name, "lru"))
    counted = ("n_block_hits", "n_eviction", "n_overshoot", "n_released")
    assert columns(result, *counted) == columns(lru, *counted)
    assert policy_named(name).without["session"] in result.notes


@pytest.mark.parametrize("name", SESSION)
@settings(max_examples=40, deadline=None)
@given(requests=tree_requests, capacity=capacities, pin=st.booleans(), seed=st.integers(0, 3))
def test_session_policies_leave_no_holes(name, requests, capacity, pin, seed):
    """Paths are claimed from the root on, so what is resident is closed under parents."""
    result = simulated(in_context(requests, seed)[0], name, capacity, pin=pin)
    assert columns(result, "n_block_hits") == columns(result, "prefix_hit_blocks")


@pytest.mark.parametrize("name", SESSION)
@settings(max_examples=40, deadline=None)
@given(requests=requests_of_any_kind, capacity=capacities, seed=st.integers(0, 3))
def test_pins_save_session_policies_the_self_evictions_and_change_nothing_else(name, requests, capacity, seed):
    """Which sessions go depends on the blocks of other requests alone, and the arriving one's are resident after it."""
    trace = Prepared(in_context(requests, seed)[0])
    pinned, free = (simulated(trace, name, capacity, pin=pin) for pin in (True, False))
    same = ("n_block_hits", "prefix_hit_blocks", "holes", "n_released")
    assert columns(pinned, *same) == columns(free, *same)
    assert pinned.n_eviction == free.n_eviction - free.n_self_eviction


def test_a_request_without_blocks_is_no_next_request_of_its_session():
    """Both sessions come back; a's empty request has passed when room is needed, and a's next one is farther away."""
    requests, sessions = [["x"], ["y"], [], ["z"], ["y"], ["x"]], ["a", "b", "a", "c", "b", "a"]
    trace = Trace.of_requests(requests, session=Labels.of(sessions))
    result = Simulation(trace, "session_belady", 2, verify=True).run().result()
    assert result.requests["n_block_hits"].tolist() == [0, 0, 0, 0, 1, 0]


# observations


@pytest.fixture(scope="module")
def generated():
    return Prepared(synthesize(seed=1, sessions=80))


COST = "linear:3472,32"  # Qwen3-Coder-30B, blocks of 64 tokens


@pytest.mark.parametrize("name", SESSION)
def test_sessions_are_far_behind_blocks_in_small_caches_and_level_in_large_ones(generated, name):
    """A cache as large as the longest request: one conversation pushes out many others, whole."""
    hit = {
        (policy, times): simulated(generated, policy, times * generated.longest, cost=COST).block_hit_ratio
        for policy in (name, name.removeprefix("session_"))
        for times in (1, 16)
    }
    assert hit[name.removeprefix("session_"), 1] - hit[name, 1] > 0.04
    assert abs(hit[name.removeprefix("session_"), 16] - hit[name, 16]) < 0.005


def test_overshoot_is_what_sessions_evict_too_much_of(generated):
    result = simulated(generated, "session_lru", generated.longest)
    assert 0 < result.n_overshoot < result.n_eviction
    assert result.n_released > 0
    assert simulated(generated, "lru", generated.longest).n_overshoot == 0


def test_random_compute_saves_more_and_hits_less_than_lru_in_a_tight_cache(generated):
    random, lru = (simulated(generated, name, generated.longest, cost=COST) for name in ("random_compute", "lru"))
    assert random.compute_saving_ratio > lru.compute_saving_ratio + 0.01
    assert random.block_hit_ratio < lru.block_hit_ratio - 0.01


def test_one_time_stamp_a_request_helps_random_compute(generated, tmp_path):
    source = Path(random_compute.__file__).read_text()
    own = source.replace("= request_stamp(frame)", "= request_stamp(frame) - position")
    (tmp_path / "one_by_one.py").write_text(own.replace('    "random_compute",', '    "one_by_one",'))
    assert own != source
    together, one_by_one = (
        simulated(generated, policy, generated.longest, cost=COST).compute_saving_ratio
        for policy in ("random_compute", str(tmp_path / "one_by_one.py"))
    )
    assert together > one_by_one + 0.01
