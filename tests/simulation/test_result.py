"""What a simulation reports: sums, groups, holes, notes, errors; and that pausing loses nothing."""

from __future__ import annotations

import json
import pickle
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hitcurve as hc
from hitcurve.costs import MODELS, cost_named
from hitcurve.errors import BadParameter, OutputError, UnknownName, UnsupportedTrace
from hitcurve.policies import policy_named
from hitcurve.simulation import Failure, Prepared, Simulation, hole_lines, result_line, run, write_holes
from hitcurve.simulation.blame import compiler_words
from hitcurve.trace import Labels, Trace
from tests.naive.policies import twin_named
from tests.naive.simulation import NEVER, NaiveCache
from tests.policies.trees import conversations, raw_requests, tree_requests

FIELDS = [
    *("policy", "params", "capacity_blocks", "cost", "pin", "replay_order", "seed", "n_req", "n_req_skipped"),
    *("n_blocks", "n_block_hits", "block_hit_ratio", "prefix_hit_blocks", "prefix_hit_ratio", "compute_saving_ratio"),
    *("n_eviction", "n_self_eviction", "n_unexpected_eviction", "holes", "holes_max", "seconds"),
]

TRACE = Trace.of_requests(
    [[1, 2, 3, 4], [5], [1, 2, 3, 4, 6]],
    block_size=16,
    input_tokens=[60, 16, 80],
    session=Labels.of(["a", None, "a"]),
    turn=[1, 1, 2],
    times=[0, 5, 10],
)


def test_the_json_fields_come_first_and_in_order():
    document = json.loads(json.dumps(hc.simulate(TRACE, "lru", 5).as_dict(), allow_nan=False))
    assert list(document)[: len(FIELDS)] == FIELDS


def test_a_small_run_in_full():
    r = hc.simulate(TRACE, "lru", 5, cost="position", holes=True)
    assert (r.n_req, r.n_req_skipped, r.n_blocks, r.n_block_hits, r.prefix_hit_blocks) == (3, 0, 10, 4, 4)
    assert (r.block_hit_ratio, r.compute_saving_ratio) == (0.4, 10 / (10 + 1 + 15))
    assert (r.hit_tokens, r.tail_hit_tokens, r.token_hit_ratio) == (64, 0, 64 / 156)
    assert (r.holes, r.holes_max, r.hole_length_mean, r.hole_length_max) == (3, 1, 2.0, 4)
    assert r.hole_list.tolist() == [[0, 0, 4], [1, 0, 1], [2, 4, 1]]
    assert r.notes == () and r.error is None
    assert "lru at 5 blocks" in repr(r) and "block_hit_ratio" in r._repr_html_()
    assert pickle.loads(pickle.dumps(r)).as_dict() == r.as_dict()
    with pytest.raises(AttributeError, match="has no 'hits'; it has policy, params"):
        _ = r.hits


def test_tokens_of_a_hit_partial_block():
    trace = Trace.of_requests([[1, 2], [1, 2], [1, 3]], block_size=16, input_tokens=[20, 20, 31])
    r = hc.simulate(trace, "lru", 4)
    assert (r.n_block_hits, r.hit_tokens, r.tail_hit_tokens) == (3, 32, 4)
    unknown = hc.simulate(Trace.of_requests([[1], [1]]), "lru", 1)
    assert (unknown.hit_tokens, unknown.tail_hit_tokens, unknown.token_hit_ratio) == (None, None, None)


@settings(max_examples=30, deadline=None)
@given(
    requests=tree_requests,
    capacity=st.integers(1, 30),
    names=st.lists(st.sampled_from(["x", "y", None]), min_size=40, max_size=40),
)
def test_groups_sum_up(requests, capacity, names):
    n = len(requests)
    names = names[:n]
    turns = [len(r) % 3 - 1 for r in requests]
    trace = Trace.of_requests(
        requests, session=Labels.of(names) if any(names) else None, turn=turns, times=[i * 1.5 for i in range(n)]
    )
    r = Simulation(trace, "fifo", capacity, cost="linear:5,2").run().result()
    keys = {"turn": [None if t < 0 else t for t in turns]}
    if any(names):
        keys["session"] = names
    for column, labels in keys.items():
        expected = defaultdict(lambda: [0, 0, 0, 0.0, 0])
        for i, label in enumerate(labels):
            row = expected[label]
            for at, name in enumerate(("n_blocks", "n_block_hits", "n_eviction", "cost_saved")):
                row[at] += r.requests[name][i]
            row[4] = max(row[4], r.requests["holes"][i])
        table = r.by(column)
        got = zip(
            *(table[c] for c in ("n_blocks", "n_block_hits", "n_eviction", "cost_saved", "holes_max")), strict=True
        )
        assert {label: list(row) for label, row in zip(table[column], got, strict=True)} == expected
        ratios = [h / b if b else 0.0 for h, b in zip(table["n_block_hits"], table["n_blocks"], strict=True)]
        assert table["block_hit_ratio"] == ratios
    windows = r.by("window", 6)
    assert sum(windows["n_block_hits"]) == r.n_block_hits
    assert windows["window_start_seconds"] == [6.0 * i for i in range((n + 3) // 4)]


def test_groups_that_cannot_be():
    r = hc.simulate(TRACE, "lru", 5)
    with pytest.raises(UnsupportedTrace, match="this trace has no tenant column"):
        r.by("tenant")
    with pytest.raises(UnknownName, match="unknown grouping 'sesion'; did you mean 'session'"):
        r.by("sesion")
    for bad in (("window",), ("turn", 5), ("window", 0), ("window", 1e-6)):
        with pytest.raises(BadParameter, match="window"):
            r.by(*bad)


def test_requests_that_do_not_fit_are_told_once_and_counted():
    with pytest.warns(UserWarning, match=r"1 of 3 requests \(50.0 % of block references\).*request 2 with 5") as told:
        r = hc.simulate(TRACE, "lru", 4)
    assert len(told) == 1
    assert (r.n_req, r.n_req_skipped, r.skipped_block_share) == (2, 1, 0.5)
    assert r.requests["n_blocks"].tolist() == [4, 1, 0]


@pytest.mark.parametrize("name", ["lru", "sieve", "belady"])
@settings(max_examples=40, deadline=None)
@given(requests=raw_requests, capacity=st.integers(1, 12), pin=st.booleans(), deepest_first=st.booleans())
def test_ids_that_repeat_inside_a_request(name, requests, capacity, pin, deepest_first):
    trace = Trace.of_requests(requests, identity="raw")
    order = "deepest-first" if deepest_first else "prefix"
    s = Simulation(trace, name, capacity, cost="position", pin=pin, replay_order=order, holes=True).run()
    paths = [trace.blocks(r).tolist() for r in range(len(trace))]
    slow = NaiveCache(
        twin_named(name, capacity, (), 0), capacity, paths, pin=pin, deepest_first=deepest_first, cost=lambda p: p + 1.0
    )
    expected = slow.run()
    columns = s.result().requests
    assert columns["n_block_hits"].tolist() == expected.hits
    assert columns["prefix_hit_blocks"].tolist() == expected.prefix_hits
    assert columns["n_eviction"].tolist() == expected.evictions
    assert columns["n_self_eviction"].tolist() == expected.self_evictions
    assert columns["cost_saved"].tolist() == expected.saved
    holes = [[r, *hole] for r, stretch in enumerate(expected.holes) for hole in stretch]
    assert s.result().hole_list.tolist() == holes
    assert s.result().notes[-1] == "cost position depends on the position, and a raw id may stand at several"


@settings(max_examples=40, deadline=None)
@given(requests=st.one_of(tree_requests, raw_requests), capacity=st.integers(1, 12), raw=st.booleans())
def test_next_uses_number_served_requests_alone(requests, capacity, raw):
    trace = Trace.of_requests(requests, identity="raw" if raw else "prefix")
    prepared = Prepared(trace)
    offsets, first, length = prepared.next_uses(capacity)
    paths = [trace.blocks(r).tolist() for r in range(len(trace))]
    expected = NaiveCache(twin_named("lru", capacity, (), 0), capacity, paths)._annotate()
    for r, numbers in enumerate(expected):
        runs = zip(
            first[offsets[r] : offsets[r + 1]].tolist(), length[offsets[r] : offsets[r + 1]].tolist(), strict=True
        )
        assert [f if f == NEVER else f + i for f, n in runs for i in range(n)] == numbers
    longest = max([len(set(p)) for p in paths], default=0)
    assert prepared.next_uses(longest + 1) is prepared.next_uses(longest + 2)  # the same requests: worked out once


def test_a_full_hole_log_is_emptied(monkeypatch):
    trace = Trace.of_requests(conversations(seed=2))
    whole = Simulation(trace, "fifo", 31, holes=True).run().result()
    assert len(whole.hole_list) > 40
    monkeypatch.setattr(run, "LOG_ROWS", 1)
    assert np.array_equal(Simulation(trace, "fifo", 31, holes=True).run().result().hole_list, whole.hole_list)


def test_progress_is_told_after_each_slice(monkeypatch):
    monkeypatch.setattr(run, "SLICE", 50)
    trace = Trace.of_requests(conversations(seed=2))
    told = []
    hc.simulate(trace, "fifo", 31, progress=lambda done, n: told.append((done, n)))
    done = [d for d, _ in told]
    assert done == sorted(set(done)) and told[-1] == (len(trace), len(trace)) and len(told) > 10
    several = []
    list(hc.simulations(trace, ["lru", "fifo"], [31], progress=lambda settings, *at: several.append(settings.policy)))
    assert several == ["lru"] * len(told) + ["fifo"] * len(told)


def test_several_policies_and_capacities_in_one_call():
    outcomes = list(hc.simulations(TRACE, ["lru", "sieve"], [5, None], params={}, cost="position"))
    assert [(r.policy, r.capacity_blocks) for r in outcomes] == [
        ("lru", 5),
        ("lru", None),
        ("sieve", 5),
        ("sieve", None),
    ]
    for r in outcomes:
        assert r.n_block_hits == hc.simulate(TRACE, r.policy, r.capacity_blocks).n_block_hits
    with pytest.raises(BadParameter, match=r"wanted POLICY.NAME=VALUE"):
        hc.simulations(TRACE, ["lru"], [5], params={"x": 1})
    with pytest.raises(BadParameter, match=r"policy 'clock' is not among those asked for \(lru\)"):
        hc.simulations(TRACE, ["lru"], [5], params={"clock.bits": 1})
    (bad,) = hc.simulations(TRACE, ["lru"], [0])
    assert isinstance(bad, Failure) and "wanted a whole number of blocks >= 1" in bad.error


def test_prefixsim_lines(tmp_path):
    named = TRACE.with_definition(sources=("/data/some.trace.jsonl",))
    r = hc.simulate(named, "lru", 5, holes=tmp_path)
    assert result_line(r, policy="LRU") == (
        "RESULT trace=/data/some.trace.jsonl algo=LRU cache_size=5 cost_model=uniform block_id=prefix n_req=3 "
        "n_req_skipped=0 n_blocks=10 block_hit_ratio=0.400000 compute_saving_ratio=0.400000 n_eviction=1 "
        "n_self_eviction=0 n_unexpected_eviction=0 n_unobserved_eviction_round=0"
    )
    written = tmp_path / "holes_some.trace_cache5_lru.txt"
    assert (
        written.read_text() == "Request 0: (idx: 0, len: 4)\nRequest 1: (idx: 0, len: 1)\nRequest 2: (idx: 4, len: 1)\n"
    )
    with pytest.raises(OutputError, match="is no folder"):
        write_holes(r, tmp_path / "none")
    with pytest.raises(BadParameter, match="kept no holes"):
        next(hole_lines(hc.simulate(named, "lru", 5)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        *(
            ({"capacity": wrong}, "capacity: wanted a whole number of blocks >= 1")
            for wrong in (0, 2.5, True, "16k", "4", [4], float("nan"), float("inf"), 2**63)
        ),
        ({"capacity": 2.5}, "found 2.5"),
        ({"capacity": True}, "found True"),
        ({"replay_order": "root"}, "replay_order: wanted deepest-first or prefix, found 'root'"),
        *(({"seed": wrong}, "seed: wanted a whole number") for wrong in (-1, "x", None, True, 2**63)),
        ({"params": {"x": 1}}, "lru has no parameters"),
        ({"policy": "clock", "params": {"bits": 1.5}}, r"clock\.bits: wanted int, found 1.5"),
        ({"cost": "linear:5,-2"}, "cost linear:5,-2: wanted 0 .. 2147483647, found -1 at position 3"),
        ({"cost": "position:3"}, "cost position: wanted position, found 'position:3'"),
        ({"cost": "linear"}, "cost linear: wanted linear:A,B, found 'linear'"),
        ({"cost": "linear:1,x"}, "cost linear: wanted two numbers"),
        ({"cost": "linear:1,inf"}, "cost linear: wanted two numbers"),
        ({"cost": "liner:1,2"}, "unknown cost model 'liner'; did you mean 'linear'"),
        ({"policy": "lro"}, "unknown policy 'lro'; did you mean 'lru'"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(options, said):
    with pytest.raises(hc.HitcurveError, match=said) as error:
        hc.simulate(TRACE, **{"policy": "lru", "capacity": 5, **options})
    assert "\n" not in str(error.value)


def test_cost_tables(tmp_path):
    file = tmp_path / "costs.txt"
    file.write_text("10\n20\n30.5\n")
    assert cost_named(f"table:{file}").of_positions(3).tolist() == [10, 20, 30.5]
    assert cost_named(f"table:{file}", extend="last").of_positions(5).tolist() == [10, 20, 30.5, 30.5, 30.5]
    with pytest.raises(BadParameter, match="has costs for 3 positions, but the trace has a request of 5 blocks"):
        hc.simulate(TRACE, "lru", 5, cost=f"table:{file}")
    for text, said in (
        ("10\nx\n", "costs.txt:2: wanted a number >= 0, found 'x'"),
        ("", "is empty"),
        ("-1", ":1: wanted"),
    ):
        file.write_text(text)
        with pytest.raises(BadParameter, match=said):
            cost_named(f"table:{file}")
    with pytest.raises(BadParameter, match="No such file"):
        cost_named(f"table:{tmp_path}/none")
    with pytest.raises(BadParameter, match="has no option 'extend'"):
        cost_named("uniform", extend="last")
    assert cost_named("linear:865, 2").name == "linear:865,2"
    assert [model.name for model in MODELS] == sorted(
        {model.name for model in MODELS}, key=[m.name for m in MODELS].index
    )


def test_policies_see_costs_rounded_half_away_from_zero():
    s = Simulation(Trace.of_requests([[1, 2, 3, 4]]), "lru", 4, cost="linear:0.5,1.25")
    assert s.frame.cost.tolist() == [1, 2, 3, 4]  # of 0.5, 1.75, 3, 4.25
    assert s.run().result().cost_total == 9.5


def test_a_checkpoint_of_something_else_is_refused():
    saved = Simulation(TRACE, "lru", 5).run(2).checkpoint()
    for other in (
        Simulation(TRACE, "fifo", 5),
        Simulation(TRACE, "lru", 6),
        Simulation(Trace.of_requests([[1]]), "lru", 5),
    ):
        with pytest.raises(BadParameter, match="checkpoint: is of another trace"):
            other.resume(saved)


def test_a_checkpoint_under_another_session_or_cost_is_refused(tmp_path):
    """A policy that looks at sessions, times or costs has decided by them."""
    requests, table = [[1, 2], [3], [1]], tmp_path / "costs"
    for name, columns, others in (
        ("session_lru", {"session": ["a", "b", "a"]}, {"session": ["a", "b", "b"]}),
        ("workload_aware", {"request_type": ["a", "b", "a"]}, {"request_type": ["a", "b", "b"]}),
    ):
        one, other = (
            Simulation(Trace.of_requests(requests, **{k: Labels.of(v) for k, v in labels.items()}), name, 5)
            for labels in (columns, others)
        )
        with pytest.raises(BadParameter, match="checkpoint: is of another trace"):
            other.resume(one.run(2).checkpoint())
    table.write_text("1\n2\n")
    one = Simulation(Trace.of_requests(requests), "asym_cache", 5, cost=f"table:{table}")
    table.write_text("2\n2\n")
    other = Simulation(Trace.of_requests(requests), "asym_cache", 5, cost=f"table:{table}")
    with pytest.raises(BadParameter, match="checkpoint: is of another trace"):
        other.resume(one.run(2).checkpoint())


def test_an_empty_trace_and_empty_requests():
    empty = hc.simulate(Trace.of_requests([]), "lru", 5, holes=True)
    assert (empty.n_req, empty.block_hit_ratio, empty.holes_max, len(empty.by("window", 1))) == (0, 0.0, 0, 0)
    assert list(hole_lines(empty)) == []
    blank = hc.simulate(Trace.of_requests([[], [1], []]), "lru", 1, verify=True)
    assert (blank.n_req, blank.n_blocks) == (3, 1)


@pytest.mark.parametrize("name", ["s3fifo", "s4fifo", "partial_node_random_compute_small_queue"])
def test_shares_of_a_capacity_beyond_every_trace(name):
    largest = {"ghost": 1e9}
    r = Simulation(TRACE, name, 2**63 - 1, params=largest, kernel="blocks").run().result()
    assert (r.settings.capacity_blocks, r.n_eviction) == (2**63 - 1, 0)
    assert r.n_block_hits == Simulation(TRACE, name, params=largest, kernel="blocks").run().result().n_block_hits


def test_what_the_compiler_says_is_cut_to_its_point():
    assert compiler_words("Failed in nopython mode pipeline (step: x)\n\n\n") == "numba gives no reason"


def test_what_leading_hits_save_and_which_hits_come_first():
    """[1 2 3] [9] [1 2 3] with the root accessed first: 2 and 3 are resident behind a gap, and save 2 + 3 of 13."""
    trace = Trace.of_requests([[1, 2, 3], [9], [1, 2, 3]])
    asked = {"capacity": 3, "replay_order": "prefix", "cost": "position"}
    gaps, prefix = (hc.simulate(trace, "lru", **asked, match=match) for match in ("gaps", "prefix"))
    assert (gaps.compute_saving_ratio, gaps.prefix_compute_saving_ratio, gaps.cost_saved) == (5 / 13, 0, 5)
    assert {**gaps.as_dict(), "seconds": 0, "blocks_per_second": 0, "match": "prefix"} == {
        **prefix.as_dict(),
        "seconds": 0,
        "blocks_per_second": 0,
    }
    assert repr(gaps).startswith(
        "<lru at 3 blocks: block hits 0.285714, leading-prefix hits 0.000000, compute saving 0.38"
    )
    assert repr(prefix).startswith(
        "<lru at 3 blocks: leading-prefix hits 0.000000, block hits 0.285714, compute saving 0.00"
    )
    assert "1.00 holes a request" in repr(gaps)
    leaf = hc.simulate(trace, "leaf_lru", **asked)
    assert (leaf.compute_saving_ratio, leaf.prefix_compute_saving_ratio) == (3 / 13, 3 / 13)
    with pytest.raises(BadParameter, match="match: wanted gaps or prefix, found 'holes'"):
        hc.simulate(trace, "lru", 3, match="holes")


@settings(max_examples=30, deadline=None)
@given(requests=tree_requests, capacity=st.integers(1, 30))
def test_savings_of_leading_hits_are_theirs(requests, capacity):
    r = Simulation(Trace.of_requests(requests), "clock", capacity, cost="linear:5,2", match="prefix").run().result()
    expected = [sum(5 + 2 * p for p in range(hits)) for hits in r.requests["prefix_hit_blocks"].tolist()]
    assert r.requests["prefix_cost_saved"].tolist() == expected
    assert r.prefix_cost_saved == sum(expected) <= r.cost_saved


def test_a_checkpoint_is_of_the_run_whatever_is_shown_first():
    saved = Simulation(TRACE, "lru", 5, match="prefix").run(2).checkpoint()
    assert Simulation(TRACE, "lru", 5).resume(saved).run().result().n_block_hits == 4


def test_what_a_trace_does_not_tell_is_said():
    wanted = ("time", "category", "session", "tenant", "tree")
    policy = replace(policy_named("fifo"), name="asks", without={what: f"no {what}" for what in wanted})
    nameless = Labels([-1, -1], ())  # as selections of rows may be
    trace = Trace.of_requests([[1], [2]], session=nameless, tenant=nameless, request_type=nameless, turn=[-1, -1])
    assert set(Simulation(trace, policy, 2).run().result().notes) == {"no category", "no session", "no tenant"}
    for named in (None, Labels.of(["a", "b"])):
        trace = Trace.of_requests([[1], [2]], tenant=named)
        notes = Simulation(trace, policy, 2).run().result().notes
        assert set(notes) == {"no category", "no session"} | ({"no tenant"} if named is None else set())
