"""What engines' own structures have in common with plain policies, and where they part."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter
from hitcurve.simulation import Prepared, Simulation
from hitcurve.trace import Trace
from tests.policies.runs import run, same
from tests.policies.trees import conversations, raw_requests, tree_requests

ORDERS = ("deepest-first", "prefix")
orders = st.sampled_from(ORDERS)


@settings(max_examples=100, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans(), order=orders)
def test_vllm_is_lru_with_the_end_of_a_prompt_first_in_any_order(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests))
    same(
        run(prepared, "vllm_free_queue", capacity, pin=pin, replay_order=order), run(prepared, "lru", capacity, pin=pin)
    )


@settings(max_examples=50, deadline=None)
@given(requests=raw_requests, capacity=st.integers(1, 12), pin=st.booleans(), order=orders)
def test_vllm_is_lru_where_ids_are_taken_as_they_are(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests, identity="raw"))
    same(
        run(prepared, "vllm_free_queue", capacity, pin=pin, replay_order=order), run(prepared, "lru", capacity, pin=pin)
    )


@settings(max_examples=80, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans(), order=orders)
def test_lmcache_with_chunks_of_a_block_is_lru_with_the_root_first(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests))
    lru = run(prepared, "lru", capacity, pin=pin, replay_order="prefix")
    same(run(prepared, "lmcache_lru", capacity, pin=pin, replay_order=order), lru)


@settings(max_examples=60, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 20), size=st.integers(2, 4), pin=st.booleans())
def test_lmcache_treats_chunks_as_lru_treats_blocks(requests, capacity, size, pin):
    """Every block cut into ``size``: chunks of that size then hit as the blocks did, at as many times the capacity."""
    cut = [[(block, part) for block in blocks for part in range(size)] for blocks in requests]
    chunks = run(Trace.of_requests(cut), "lmcache_lru", size * capacity, params={"chunk": size}, pin=pin, verify=True)
    lru = run(Trace.of_requests(requests), "lru", capacity, pin=pin, replay_order="prefix")
    for column in ("hits", "prefix_hits", "evictions"):
        assert np.array_equal(getattr(chunks.frame, column), size * getattr(lru.frame, column)), column


@settings(max_examples=80, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), size=st.integers(2, 4), pin=st.booleans())
def test_lmcache_finds_whole_chunks_and_never_the_rest(requests, capacity, size, pin):
    simulation = run(Trace.of_requests(requests), "lmcache_lru", capacity, params={"chunk": size}, pin=pin, holes=True)
    result = simulation.result()
    lengths = np.array([len(blocks) for blocks in requests], int)
    assert (result.requests["prefix_hit_blocks"] % size == 0).all()
    assert (result.requests["n_block_hits"] % size == 0).all()
    assert (result.requests["n_block_hits"] <= lengths // size * size).all()
    assert (result.hole_list[:, 1] % size == 0).all()


def test_lmcache_by_hand():
    """Chunks of two: a prompt of five blocks is found up to its fourth; a branch inside a chunk finds nothing of it."""
    requests = [list("abcde"), list("abcde"), list("abx"), list("axyz"), list("abcd")]
    frame = run(Trace.of_requests(requests), "lmcache_lru", 20, params={"chunk": 2}, verify=True).frame
    assert frame.hits.tolist() == [0, 4, 2, 0, 4]
    assert np.count_nonzero(frame.resident) == 7  # a b c d, a shared once; x y z


@pytest.mark.parametrize(("block_size", "chunk"), [(64, 4), (256, 1), (512, 1), (100, 2), (None, 1)])
def test_lmcache_knows_how_many_blocks_fill_256_tokens(block_size, chunk):
    trace = Trace.of_requests(conversations(seed=1, n=60), block_size=block_size)
    derived, given_ = (run(trace, "lmcache_lru", 60, params={"chunk": chunk_}) for chunk_ in (0, chunk))
    same(derived, given_)


def test_lmcache_stores_no_partial_block():
    trace = Trace.of_requests([["a", "b"], ["a", "b"]], block_size=256, input_tokens=[300, 300])
    assert run(trace, "lmcache_lru", 5).frame.hits.tolist() == [0, 1]


@settings(max_examples=80, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 40), pin=st.booleans(), order=orders)
def test_mooncake_without_batches_and_leases_is_lru_with_the_root_first(requests, capacity, pin, order):
    prepared = Prepared(Trace.of_requests(requests))
    plain = {"watermark": 1, "ratio": 0, "lease": 0}
    lru = run(prepared, "lru", capacity, pin=pin, replay_order="prefix")
    same(run(prepared, "mooncake_lru", capacity, params=plain, pin=pin, replay_order=order), lru)


def test_mooncake_empties_a_store_that_is_nearly_full():
    """Of 20 blocks in 20, above 95 %: a tenth goes before the next request, its 5 % and the 5 % above the watermark."""
    trace = Trace.of_requests([[k] for k in range(21)], times=[0] * 20 + [60])
    frame = run(trace, "mooncake_lru", 20).frame
    assert frame.releases.tolist() == [0] * 20 + [2]
    assert np.flatnonzero(frame.resident == 0).tolist() == [0, 1]


def test_mooncake_spares_what_is_under_a_lease():
    """a was read at 1 s: until 6 s others go, though a is the oldest; later it goes by the end of its lease."""
    params = {"watermark": 1, "ratio": 0}
    requests = [["a"], ["a"], ["b"], ["c"], ["d"]]
    early = run(Trace.of_requests(requests, times=[0, 1, 2, 3, 4]), "mooncake_lru", 2, params=params).frame
    assert np.flatnonzero(early.resident).tolist() == [0, 3]
    late = run(Trace.of_requests(requests, times=[0, 1, 7, 8, 9]), "mooncake_lru", 2, params=params).frame
    assert np.flatnonzero(late.resident).tolist() == [2, 3]


def test_a_lease_may_end_after_the_end_of_time():
    """2^63 ns is the year 2262; a was read shortly before it, and its lease outlasts b, which was only written."""
    trace = Trace.of_requests([["a"], ["a"], ["b"], ["c"]], times=[9.2e9] * 4)
    params = {"watermark": 1, "ratio": 0, "lease": 1e9}
    frame = run(trace, "mooncake_lru", 2, params=params).frame
    assert np.flatnonzero(frame.resident).tolist() == [0, 2]


def test_mooncake_takes_a_batch_where_room_is_short():
    """Half of four blocks at once: one is needed, the other is evicted beyond the need."""
    params = {"watermark": 1, "ratio": 0.5}
    frame = run(Trace.of_requests([[1], [2], [3], [4], [5]]), "mooncake_lru", 4, params=params).frame
    assert (frame.evictions.tolist(), frame.overshoots.tolist()) == ([0, 0, 0, 0, 2], [0, 0, 0, 0, 1])


@pytest.mark.parametrize(
    ("name", "params", "said"),
    [
        ("leaf_slru", {"protected_uses": 0}, "leaf_slru: wanted protected_uses >= 1, found 0"),
        ("leaf_priority", {"most": -1}, "leaf_priority: wanted most >= 0, found -1"),
        ("lmcache_lru", {"chunk": -1}, "lmcache_lru: wanted chunk >= 0, found -1"),
        ("mooncake_lru", {"watermark": 1.5}, "mooncake_lru: wanted 0 <= watermark <= 1, found 1.5"),
        ("mooncake_lru", {"ratio": -0.1}, "mooncake_lru: wanted 0 <= ratio <= 1, found -0.1"),
        ("mooncake_lru", {"lease": -1}, "mooncake_lru: wanted lease 0 or at least a nanosecond, found -1"),
        ("mooncake_lru", {"lease": 1e-12}, "mooncake_lru: wanted lease 0 or at least a nanosecond, found 1e-12"),
        ("trtllm_priority", {"front": -1}, "trtllm_priority: wanted front >= 0, found -1"),
        ("trtllm_priority", {"front_priority": 101}, "trtllm_priority: wanted 0 <= front_priority <= 100, found 101"),
        ("trtllm_priority", {"rest_priority": -1}, "trtllm_priority: wanted 0 <= rest_priority <= 100, found -1"),
        ("trtllm_priority", {"seconds": -0.5}, "trtllm_priority: wanted seconds 0 or at least a nano.*, found -0.5"),
        ("trtllm_priority", {"seconds": 1e-10}, "trtllm_priority: wanted seconds 0 or at least a nano.*, found 1e-10"),
        ("ttl", {"seconds": -1}, "ttl: wanted seconds 0 or at least a nanosecond, found -1"),
    ],
)
def test_parameters_out_of_range_are_refused(name, params, said):
    with pytest.raises(BadParameter, match=said):
        Simulation(Trace.of_requests([["a"]]), name, 1, params=params)


@pytest.mark.parametrize("name", ["leaf_lru", "leaf_belady", "lmcache_lru", "trtllm_priority"])
def test_where_ids_form_no_tree_the_run_says_so(name):
    notes = run(Trace.of_requests([[1, 2], [2, 1]], identity="raw"), name, 2).result().notes
    assert any("these ids form no tree" in note for note in notes)
    assert not run(Trace.of_requests([[1, 2], [1, 3]], identity="raw"), name, 2).result().notes[1:]


def test_without_times_the_run_says_what_follows():
    timeless = Trace.of_requests([["a"], ["a"], ["b"], ["c"]]).with_definition(time_unit="none")
    for name, said in (("mooncake_lru", "every lease lasts for ever"), ("trtllm_priority", "no priority lapses")):
        assert said in " ".join(run(timeless, name, 2).result().notes)
