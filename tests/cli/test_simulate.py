"""hitcurve simulate and hitcurve policies, as a script would use them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

import hitcurve as hc
from hitcurve.cli import main
from hitcurve.policies import NAMES
from tests.policies.test_own import MINE
from tests.simulation.test_result import FIELDS


@pytest.fixture
def trace(tmp_path) -> Path:
    """PrefixSim's case c, with sessions: [1 2 3 4] [5] [1 2 3 4 6], block size 16."""
    path = tmp_path / "case.c.jsonl"
    rows = [
        {"timestamp": 1000 * k, "input_length": 16 * len(ids), "output_length": 1, "hash_ids": ids, "session_id": s}
        for k, (ids, s) in enumerate([([1, 2, 3, 4], "a"), ([5], "b"), ([1, 2, 3, 4, 6], "a")])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def run(capsys, trace):
    """``hitcurve simulate TRACE ...`` in this process; returns (status, stdout, stderr)."""

    def call(*args, verb=("simulate", trace, "--input-format", "mooncake", "--block-size", 16)):
        with pytest.raises(SystemExit) as end:
            main([str(arg) for arg in (*verb, *args)])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


def test_json_has_the_documented_fields(run, trace):
    status, out, err = run("-p", "lru,SIEVE", "-p", "belady", "-c", "5,1k", "--cost", "position", "--format", "json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["trace"]["requests"] == 3 and document["trace"]["block_size"] == 16
    assert [(r["policy"], r["capacity_blocks"]) for r in document["results"]] == [
        (policy, capacity) for policy in ("lru", "sieve", "belady") for capacity in (5, 1024)
    ]
    for row in document["results"]:
        assert list(row)[: len(FIELDS)] == FIELDS
        own = hc.simulate(hc.read_trace(trace, block_size=16), row["policy"], row["capacity_blocks"], cost="position")
        timed = ("seconds", "blocks_per_second")
        assert {k: v for k, v in row.items() if k not in timed} == {
            k: v for k, v in own.as_dict().items() if k not in timed
        }


def test_a_policy_or_capacity_named_twice_is_one_row(run, tmp_path):
    own = tmp_path / "mine.py"
    own.write_text(MINE)
    policies = ["-p", f"LRU,{own},lru", "-p", tmp_path / "." / "mine.py"]
    _, out, _ = run(*policies, "-c", "1k,5", "-c", "1024,64KiB", "--block-bytes", "64", "--format", "json")
    asked = [("lru", 1024), ("lru", 5), ("second-chance", 1024), ("second-chance", 5)]
    assert [(row["policy"], row["capacity_blocks"]) for row in json.loads(out)["results"]] == asked
    _, out, _ = run("-p", "LRU,lru", "-c", "5,5", "--result-lines")
    assert len(out.splitlines()) == 1


def test_the_table_says_who_is_best(run):
    status, out, err = run("-p", "lru,fifo", "-c", "5")
    assert (status, err) == (0, "")
    assert out.splitlines()[0] == "best of 2 at 5 blocks: 40 % block hits (lru), 40 % leading-prefix hits (lru)"
    assert "counted: all positions of served requests" in out and "case.c.jsonl" in out


def test_no_pin_and_the_order_reach_the_loop(run):
    rows = []
    for more in ((), ("--no-pin",), ("--no-pin", "--replay-order", "prefix")):
        _, out, _ = run("-c", "5", "--format", "json", *more)
        (row,) = json.loads(out)["results"]
        rows.append((row["pin"], row["replay_order"], row["n_eviction"], row["n_self_eviction"]))
    assert rows == [(True, "deepest-first", 1, 0), (False, "deepest-first", 5, 4), (False, "prefix", 5, 4)]


def test_prefixsim_lines_and_holes(run, trace, tmp_path):
    status, out, err = run("-p", "LRU,fifo", "-c", "5", "--result-lines", "--holes", tmp_path)
    assert (status, err) == (0, "")
    first, second = out.splitlines()
    assert first == (
        f"RESULT trace={trace} algo=LRU cache_size=5 cost_model=uniform block_id=prefix n_req=3 n_req_skipped=0 "
        "n_blocks=10 block_hit_ratio=0.400000 compute_saving_ratio=0.400000 n_eviction=1 n_self_eviction=0 "
        "n_unexpected_eviction=0 n_unobserved_eviction_round=0"
    )
    assert second.startswith(f"RESULT trace={trace} algo=fifo ")
    lines = "Request 0: (idx: 0, len: 4)\nRequest 1: (idx: 0, len: 1)\nRequest 2: (idx: 4, len: 1)\n"
    assert (tmp_path / "holes_case.c_cache5_lru.txt").read_text() == lines
    file = tmp_path / "lines.txt"
    status, printed, _ = run("-p", "LRU,fifo", "-c", "5", "--result-lines", "-o", file)
    assert (status, printed, file.read_text()) == (0, "", out)


def test_groups_as_csv(run):
    status, out, err = run("-c", "5", "--by", "session", "--format", "csv")
    assert (status, err) == (0, "")
    rows = list(csv.DictReader(io.StringIO(out.split("\n", 1)[1])))
    assert [(r["policy"], r["session"], r["n_blocks"], r["n_block_hits"]) for r in rows] == [
        ("lru", "a", "9", "4"),
        ("lru", "b", "1", "0"),
    ]
    _, out, _ = run("-c", "5", "--by", "window", "--window", "2s", "--format", "json")
    by = json.loads(out)["by"]
    assert [(row["window_start_seconds"], row["n_req"]) for row in by["rows"]] == [(0.0, 2), (2.0, 1)]


def test_a_policy_of_ones_own_and_one_that_fails(run, tmp_path):
    good, bad = tmp_path / "good.py", tmp_path / "bad.py"
    good.write_text(MINE)
    bad.write_text(MINE.replace("second-chance", "stuck").replace("    return block\n", "    return -1\n"))
    status, out, err = run("-p", f"{bad},{good},lru", "-c", "5", "--format", "json")
    failure = "policy stuck, request 2: named no victim in more steps than there are resident blocks"
    assert (status, err) == (1, f"hitcurve: error: {failure}\n")
    stuck, own, lru = json.loads(out)["results"]
    assert (stuck["policy"], stuck["error"]) == ("stuck", failure)
    assert (own["policy"], own["error"], own["n_block_hits"]) == ("second-chance", None, 4)
    assert lru["n_block_hits"] == 4


def test_requests_that_do_not_fit_are_told_on_standard_error_once(run):
    status, out, err = run("-p", "lru,fifo", "-c", "4", "--format", "json")
    assert status == 0 and json.loads(out)["results"][0]["n_req_skipped"] == 1
    assert err == (
        "hitcurve: warning: 1 of 3 requests (50.0 % of block references) hold more distinct blocks than the capacity "
        "of 4 and were left out, the first of them request 2 with 5\n"
    )


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["-p", "lro", "-c", "5"], "unknown policy 'lro'; did you mean 'lru'"),
        (["-p", "clockpro", "-c", "5"], "clockpro may decline to admit a block"),
        (["-c", "1KiB", "--block-bytes", "1MiB"], "--capacity: 1,024 bytes hold no block of 1,048,576"),
        (["-c", ""], "--capacity: wanted at least one value, found none"),
        (["-c", "5", "-p", ","], "--policy: wanted at least one name, found none"),
        (
            ["-c", "5", "-p", "s3fifo", "--param", "s3fifo.ghost=1e300"],
            "s3fifo.ghost: wanted at most 1,000,000,000 in size",
        ),
        (["-c", "5", "-p", "slru", "--param", "slru.segments=0"], "slru: wanted 1 <= segments <= 255, found 0"),
        (["-c", "1GiB"], "a capacity in bytes needs --block-bytes or --bytes-per-token"),
        (["-c", "5", "--param", "lru.x=1"], "lru has no parameters"),
        (["-c", "5", "--param", "small=1"], "parameter 'small': wanted POLICY.NAME=VALUE"),
        (["-c", "5", "--param", "s3fifo.small=1"], "policy 's3fifo' is not among those asked for (lru)"),
        (["-c", "5", "--cost", "linear:1"], "cost linear: wanted two numbers"),
        (["-c", "5", "--cost", "table:/no/such"], "/no/such: No such file or directory"),
        (["-c", "5", "--by", "window"], "--by window and --window TIME go together"),
        (["-c", "5", "--by", "tenant"], "this trace has no tenant column"),
        (["-c", "5", "--result-lines", "--format", "csv"], "--result-lines has a form of its own"),
        (["-c", "5", "--holes", "/no/such"], "Directory '/no/such' does not exist"),
        (["-p", "./no.py", "-c", "5"], "./no.py: No such file or directory"),
        ([], "Missing option '-c' / '--capacity'"),
    ],
)
def test_what_is_wrong_is_one_line(run, args, said):
    status, out, err = run(*args)
    assert (status, out) == (2, "")
    assert said in err and err.count("\n") == 1


def test_bytes_become_blocks(run):
    _, out, _ = run("-c", "1MiB,80kB", "--bytes-per-token", "1KiB", "--format", "json")
    assert [r["capacity_blocks"] for r in json.loads(out)["results"]] == [64, 4]


def test_policies_are_listed_and_explained(run, tmp_path):
    status, out, _ = run("--format", "json", verb=["policies"])
    listed = json.loads(out)["policies"]
    assert status == 0 and [p["name"] for p in listed] == list(NAMES)
    assert all(p["pins"] and p["title"] and p["family"] for p in listed)
    s3fifo = next(p for p in listed if p["name"] == "s3fifo")
    assert s3fifo["params"][0] == {
        "name": "small",
        "type": "float",
        "default": 0.1,
        "what": "share of the capacity for the small queue",
    }
    _, out, _ = run(verb=["policies"])
    assert all(any(line.startswith(f"{name} ") for line in out.splitlines()) for name in NAMES)
    _, out, _ = run(verb=["policies", "belady"])
    assert "needs next_use" in out and "1966" in out
    mine = tmp_path / "mine.py"
    mine.write_text(MINE)
    _, out, _ = run(verb=["policies", mine])
    assert out.startswith("Second chance: ") and out.endswith("second-chance: own\n")
    assert run(verb=["policies", "lro"])[0] == 2


def test_every_parameter_is_explained(run):
    _, out, _ = run("--format", "json", verb=["policies"])
    for policy in json.loads(out)["policies"]:
        for param in policy["params"]:
            assert param["what"], f"{policy['name']}.{param['name']}"


@pytest.fixture
def gapped(tmp_path) -> Path:
    """[1 2 3] [9] [1 2 3]: with the root accessed first, LRU of 3 blocks keeps 2 and 3 without 1."""
    path = tmp_path / "gapped.jsonl"
    rows = [
        {"timestamp": k, "input_length": 16 * len(ids), "hash_ids": ids}
        for k, ids in enumerate([[1, 2, 3], [9], [1, 2, 3]])
    ]
    path.write_text("".join(json.dumps({**row, "output_length": 1}) + "\n" for row in rows))
    return path


def test_match_says_which_hits_come_first(run, gapped):
    verb = ("simulate", gapped, "--input-format", "mooncake", "--block-size", 16)
    args = ("-p", "lru,leaf_lru", "-c", 3, "--replay-order", "prefix", "--cost", "position")
    _, gaps, _ = run(*args, verb=verb)
    _, prefix, _ = run(*args, "--match", "prefix", verb=verb)
    assert gaps.splitlines()[0] == (
        "best of 2 at 3 blocks: 28.6 % block hits (lru), 28.6 % leading-prefix hits (leaf_lru), "
        "38.5 % compute saved (lru) with 1.00 holes a request"
    )
    assert prefix.splitlines()[0] == (
        "best of 2 at 3 blocks: 28.6 % leading-prefix hits (leaf_lru), 28.6 % block hits (lru), "
        "23.1 % compute saved (leaf_lru) with 1.00 holes a request"
    )
    names = [
        [line.split()[0] for line in text.splitlines() if line.startswith(("lru", "leaf"))] for text in (gaps, prefix)
    ]
    assert names == [["lru", "leaf_lru"], ["leaf_lru", "lru"]]  # the best in front
    assert gaps.index("block hits  ") < gaps.index("prefix hits  ")
    assert prefix.index("prefix hits  ") < prefix.index("block hits  ")
    assert "hits behind a gap too" in gaps and "hits before the first gap first" in prefix
    documents = [
        json.loads(run(*args, "--match", match, "--format", "json", verb=verb)[1]) for match in ("gaps", "prefix")
    ]
    timed = ("seconds", "blocks_per_second", "match")
    counts = [[{k: v for k, v in row.items() if k not in timed} for row in d["results"]] for d in documents]
    assert counts[0] == counts[1]  # the same numbers under the same names, in the order asked for
    assert [row["match"] for d in documents for row in d["results"]] == ["gaps", "gaps", "prefix", "prefix"]
    lru = counts[0][0]
    assert (lru["compute_saving_ratio"], lru["prefix_compute_saving_ratio"]) == (5 / 13, 0)


def test_the_bound_is_told_where_it_was_found(run, gapped):
    verb = ("simulate", gapped, "--input-format", "mooncake", "--block-size", 16)
    told = "no policy has more than 28.6 % leading-prefix hits at 3 blocks (belady)"
    _, out, _ = run("-p", "lru,belady", "-c", "3,7", verb=verb)
    assert told in out.splitlines() and "leading-prefix hits at 7 blocks (belady)" in out
    assert "no policy" not in run("-p", "lru", "-c", "3", verb=verb)[1]
    assert "no policy has more" in run("-p", "leaf_belady", "-c", "3", verb=verb)[1]
