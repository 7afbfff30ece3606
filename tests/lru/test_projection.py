"""The projector: boundaries, sums over groups, tokens and tails, and the capacity for a ratio."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, UnsupportedTrace
from hitcurve.lru import HitCurve, lru_facts, whole_blocks
from hitcurve.projection import INFINITE, alive, alive_ends, blocks_of, hits_at, ttl_in_ns
from hitcurve.trace import Labels, Trace
from tests.lru.traces import tree_requests, with_times

BLOCK = 4


@pytest.mark.parametrize("ttl", [1e-10, -1, "5", True])
def test_no_time_to_live_rounds_to_nothing(ttl):
    with pytest.raises(BadParameter, match="at least a nanosecond"):
        ttl_in_ns(ttl)


@st.composite
def labelled(draw):
    """A trace of requests with or without a partial last block, with sessions, turns and types; and its pieces."""
    requests, times = draw(with_times(tree_requests(most=10)))
    partial = draw(st.lists(st.integers(0, BLOCK - 1), min_size=len(requests), max_size=len(requests)))
    tokens = [len(request) * BLOCK - part if request else part for request, part in zip(requests, partial, strict=True)]
    names = draw(st.lists(st.sampled_from(["x", "y", None]), min_size=len(requests), max_size=len(requests)))
    turns = draw(st.lists(st.integers(-1, 2), min_size=len(requests), max_size=len(requests)))
    trace = Trace.of_requests(
        requests, times=times, block_size=BLOCK, input_tokens=tokens, session=Labels.of(names), turn=turns
    )
    return trace, requests, times, tokens, names, turns


def slow_counts(trace, requests, tokens, hits, rows):
    """Hit blocks, hit tokens, tail tokens of some rows, block by block."""
    blocks = full = tails = 0
    for r in rows:
        for position in range(hits[r]):
            blocks += 1
            inside = min(BLOCK, tokens[r] - position * BLOCK)
            if inside == BLOCK:
                full += BLOCK
            else:
                tails += max(inside, 0)
    return blocks, full, tails


@settings(max_examples=80, deadline=None)
@given(labelled())
def test_points_curve_and_sums_agree_with_counting_block_by_block(drawn):
    trace, requests, times, tokens, names, turns = drawn
    facts = lru_facts(trace)
    rows = range(len(requests))
    groupings = {
        "session": names,
        "turn": [None if turn < 0 else turn for turn in turns],
        ("window", 2): [(t - times[0]) // 2 * 2.0 for t in times],
    }
    if trace.session is None:
        del groupings["session"]
    capacities = [*range(trace.n_blocks + 2), None]
    for ttl in (None, 1, 3):
        curve = facts.curve(ttl)
        for capacity in capacities:
            hits = facts.hits_per_request(capacity, ttl).tolist()
            wanted = slow_counts(trace, requests, tokens, hits, rows)
            point = next(facts.points([capacity], [ttl]).rows())
            assert (point["hit_blocks"], point["hit_tokens"], point["tail_hit_tokens"]) == wanted
            assert (facts.hit_blocks(capacity, ttl), facts.hit_tokens(capacity, ttl)) == wanted[:2]
            assert facts.tail_hit_tokens(capacity, ttl) == wanted[2]
            below = [i for i, c in enumerate(curve["capacity_blocks"]) if capacity is None or c <= capacity]
            step = [curve[n][below[-1]] if below else 0 for n in ("hit_blocks", "hit_tokens", "tail_hit_tokens")]
            assert tuple(step) == wanted
        assert np.all(np.diff(curve["hit_blocks"], prepend=0) > 0)
        for by, values in groupings.items():
            table = facts.points([2, None], [ttl], by=by)
            name = next(iter(table.columns))
            for row in table.rows():
                own = [r for r in rows if values[r] == row[name]]
                hits = facts.hits_per_request(row["capacity_blocks"], ttl).tolist()
                wanted = slow_counts(trace, requests, tokens, hits, own)
                assert (row["hit_blocks"], row["hit_tokens"], row["tail_hit_tokens"]) == wanted
                assert row["requests"] == len(own)
                assert row["block_refs"] == sum(len(requests[r]) for r in own)
                assert row["input_tokens"] == sum(tokens[r] for r in own)
                assert row["block_hit_ratio"] == row["hit_blocks"] / max(row["block_refs"], 1)
                assert row["token_hit_ratio"] == row["hit_tokens"] / max(row["input_tokens"], 1)
            assert sum(table["requests"]) == 2 * len(requests)


@settings(max_examples=150, deadline=None)
@given(labelled(), st.integers(0, 20))
def test_capacity_for_is_the_smallest_that_reaches_the_ratio(drawn, twentieth):
    trace = drawn[0]
    facts, ratio = lru_facts(trace), Fraction(twentieth, 20)
    for ttl in (None, 2):
        for of, total, hits in (
            ("blocks", trace.n_block_refs, facts.hit_blocks),
            ("tokens", trace.n_input_tokens, facts.hit_tokens),
        ):
            reached = [c for c in [*range(trace.n_blocks + 1)] if hits(c, ttl) >= ratio * total]
            assert facts.capacity_for(ratio, of, ttl) == (reached[0] if reached else None)


segments = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 6), st.integers(1, 9)), max_size=12)


@settings(max_examples=200, deadline=None)
@given(segments, st.booleans())
def test_hit_curve_counts_thresholds(drawn, weighted):
    start, length, weight = (np.array([s[i] for s in drawn], np.int64) for i in range(3))
    curve = HitCurve.of(start, length, weight if weighted else None)
    thresholds = [(s + k, w if weighted else 1) for s, n, w in drawn for k in range(n)]
    capacities = np.array([*range(40), INFINITE])
    wanted = [sum(w for t, w in thresholds if t <= c) for c in capacities.tolist()]
    assert curve.at(capacities).tolist() == wanted
    assert curve.along(capacities).tolist() == wanted
    assert curve.most == wanted[-1]
    rises = [c for c in range(1, 40) if wanted[c] > wanted[c - 1]]
    found, hits = curve.steps()
    assert found.tolist() == rises and hits.tolist() == [wanted[c] for c in rises]
    for hits in range(curve.most + 2):
        assert curve.smallest(hits) == next((c for c in range(40) if wanted[c] >= hits), None)


@st.composite
def rows_of_pairs(draw):
    """(in bytes, its pairs with ages, capacities, time to live) of some requests."""
    rows = []
    n_capacities = draw(st.integers(0, 4))
    for in_bytes in draw(st.lists(st.booleans(), max_size=5)):
        pairs, first, hits = [], 0, 0
        for gap, size in draw(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4)), max_size=5)):
            first, hits = first + gap, hits + size
            pairs.append((first, hits if in_bytes else size, draw(st.integers(0, 6))))
            first += 0 if in_bytes else size - 1
        limits = draw(st.lists(st.integers(0, 40) | st.just(INFINITE), min_size=n_capacities, max_size=n_capacities))
        rows.append((in_bytes, pairs, limits, draw(st.integers(0, 7) | st.just(INFINITE))))
    return rows, n_capacities


@settings(max_examples=300, deadline=None)
@given(rows_of_pairs())
def test_pairs_are_projected_as_the_reference_says(drawn):
    rows, n_capacities = drawn
    wanted, living = [], []
    for in_bytes, pairs, limits, ttl in rows:
        dead = [i for i, pair in enumerate(pairs) if pair[2] >= ttl]
        left = pairs[: dead[0]] if dead else pairs
        living += [i < len(left) for i in range(len(pairs))]
        for limit in limits:
            if in_bytes:
                wanted.append(max((hits for capacity, hits, _ in left if capacity <= limit), default=0))
            else:
                wanted.append(sum(start + k <= limit for start, length, _ in left for k in range(length)))
    offsets = np.cumsum([0, *(len(pairs) for _, pairs, _, _ in rows)])
    first, second, age_ns = (np.array([p[i] for _, pairs, _, _ in rows for p in pairs], np.int64) for i in range(3))
    ttl_ns = np.array([ttl for *_, ttl in rows], np.int64)
    ends = alive_ends(offsets, age_ns, ttl_ns)
    limits = np.array([limits for _, _, limits, _ in rows], np.int64).reshape(len(rows), n_capacities)
    in_bytes = np.array([in_bytes for in_bytes, *_ in rows], bool)
    assert hits_at(offsets, ends, first, second, in_bytes, limits).ravel().tolist() == wanted
    assert alive(offsets, age_ns, ttl_ns).tolist() == living


def test_what_a_capacity_and_a_ttl_may_be():
    assert [blocks_of(c) for c in (0, 7, 7.0, np.int32(7), None, float("inf"), 2**70)] == [
        0, 7, 7, 7, INFINITE, INFINITE, INFINITE
    ]  # fmt: skip
    assert [ttl_in_ns(t) for t in (0, 1, 0.1, np.float32(2), Fraction(1, 10**9), None, float("inf"), 10**18)] == [
        0, 10**9, 10**8, 2 * 10**9, 1, INFINITE, INFINITE, INFINITE
    ]  # fmt: skip
    for wrong in (-1, 0.5, float("nan"), "many", True, [4]):
        with pytest.raises(BadParameter, match="capacity"):
            blocks_of(wrong)
    for wrong in (-1, float("nan"), "long", "5", True, [4]):
        with pytest.raises(BadParameter, match="ttl"):
            ttl_in_ns(wrong)
    with pytest.raises(BadParameter, match="block_bytes"):
        whole_blocks(10, 0)
    with pytest.raises(BadParameter, match="block_bytes: wanted at least 1, found -1"):
        lru_facts(Trace.of_requests(["ab"])).points([4], [None], block_bytes=-1)


def test_a_trace_without_tokens_says_so():
    facts = lru_facts(Trace.of_requests(["ab", "ab"]))
    assert not facts.in_tokens
    assert set(facts.curve().columns) == {"capacity_blocks", "hit_blocks", "block_hit_ratio"}
    assert "not known" in facts.curve().provenance["token_hit_ratio"]
    point = next(facts.points([None]).rows())
    assert point["hit_tokens"] is point["tail_hit_tokens"] is point["token_hit_ratio"] is None
    for question in (facts.hit_tokens, facts.tail_hit_tokens, lambda: facts.capacity_for(0.5)):
        with pytest.raises(UnsupportedTrace, match="block size"):
            question()
    assert facts.capacity_for(0.5, "blocks") == 2
    with pytest.raises(BadParameter, match="ratio"):
        facts.capacity_for(1.5, "blocks")
    with pytest.raises(BadParameter, match="tokens or blocks"):
        facts.capacity_for(0.5, "bytes")


def test_facts_show_themselves():
    facts = lru_facts(Trace.of_requests(["abc", "abd", "abc"], block_size=2, input_tokens=[6, 6, 6]))
    assert repr(facts) == (
        "<Facts: 3 requests in 3 segments, run level, exact; an infinite cache hits 5 blocks, 55.6%>"
    )
    assert "<table" in facts._repr_html_()
    assert facts.summary()["capacity_blocks"][-1] == 4
