"""hitcurve facts, as a script would use it; what goes wrong is one line with a path, and nothing is there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hitcurve.cli import main
from hitcurve.offline.run import CSV, PARQUET
from tests.cli.running import error_line, hitcurve
from tests.offline.configs import config, group, instance, written


@pytest.fixture
def run(capsys):
    """``hitcurve facts ...`` in this process; returns (status, stdout, stderr)."""

    def call(*args: Any) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(["facts", *map(str, args)])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


def row(keys=(1,), length=4, time=1000, instance_id="i", kind="request", **more):
    return {
        "type": kind,
        "instance_id": instance_id,
        "timestamp_ns": time,
        "keys": list(keys),
        "input_len": length,
        **more,
    }


def on_disk(folder, rows, **more):
    text = "".join((each if type(each) is str else json.dumps(each)) + "\n" for each in rows)
    (folder / "trace.jsonl").write_text(text)
    return written(folder, config(folder, **more))


def old_pair(folder):
    (folder / "out").mkdir()
    for name in (CSV, PARQUET):
        (folder / "out" / name).write_text("old")


FAILURES = {
    "unsorted": ([row(time=2000), row(time=1000)], {}, ":2: timestamp_ns: wanted >= 2000, the time before it"),
    "an unsorted write": ([row(time=2000), row(time=1000, kind="write")], {}, ":2: timestamp_ns: wanted >= 2000"),
    "after a write": ([row(time=2000, kind="write"), "", row(time=1000)], {}, ":3: timestamp_ns: wanted >= 2000"),
    "unknown instance": (
        [row(), row(instance_id="nope")], {},
        ":2: instance_id: wanted a configured instance (i), found 'nope'",
    ),
    "too many keys": ([row([1, 2], 4)], {}, ":1: number of keys: wanted 1, for input_len 4 at block size 4"),
    "too few keys": ([row([], 4)], {}, ":1: number of keys: wanted 1, for input_len 4 at block size 4"),
    "writes alone": ([row(kind="write")], {}, ": no usable row: none is a read (get or request)"),
    "nothing": ([], {}, ": the file is empty"),
    "blank lines": (["", " "], {}, ": no usable row"),
    "no JSON": ([row(), "{"], {}, ":2: not JSON"),
    "no row": ([{"x": 1}], {}, ":1: type: wanted get, request or write, found"),
    "half a pair": ([row(), row(trace_id="\ud800")], {}, ":2: trace_id: wanted valid Unicode, found '\\ud800'"),
    "legacy rows": ([{"query_type": "prefix_match", "keys": [], "total_keys": 0}], {}, ":1: legacy dialog-style trace"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
@pytest.mark.parametrize("workers", [1, 3])
def test_a_bad_trace_publishes_nothing(tmp_path, run, name, workers):
    rows, more, says = FAILURES[name]
    old_pair(tmp_path)
    status, out, err = run(on_disk(tmp_path, rows, pipeline_worker_count=workers, **more))
    assert (status, out) == (2, "") and err.count("\n") == 1
    assert err.startswith(f"hitcurve: error: {tmp_path / 'trace.jsonl'}{says}"), err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([CSV, PARQUET])
    assert all(path.read_text() == "old" for path in (tmp_path / "out").iterdir())


def test_unknown_instances_are_fine_for_writes_and_under_override(tmp_path, run):
    rows = [row(), row(instance_id="nope", kind="write", time=1001), row(time=1002)]
    assert run(on_disk(tmp_path, rows))[0] == 0
    assert (tmp_path / "out" / CSV).read_text().count("\n") == 3
    assert run(on_disk(tmp_path, [row(instance_id="nope")], override_instance_id="i"))[0] == 0
    assert ",i,1000," in (tmp_path / "out" / CSV).read_text()


def test_the_nearest_of_many_instances_are_named(tmp_path, run):
    instances = [instance(f"engine-{k}") for k in range(20)]
    _, _, err = run(on_disk(tmp_path, [row(instance_id="engin-7")], instances=instances))
    assert "wanted a configured instance (engine-7, " in err and err.rstrip().endswith("...), found 'engin-7'")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"instances": [instance(block_size=6)]}, "instances[0].block_size: wanted a multiple of the trace's 4"),
        ({"override_instance_id": "missing"}, "override_instance_id: wanted one of the instances (i), found"),
        ({"instance_groups": [group(ttl_seconds=-1)]}, "instance_groups[0].ttl_seconds: wanted a whole number 0 .."),
    ],
    ids=["granularity", "override", "ttl"],
)  # fmt: skip
def test_a_bad_configuration_publishes_nothing(tmp_path, run, more, says):
    status, out, err = run(on_disk(tmp_path, [row()], **more))
    assert (status, out) == (2, "") and says in err and err.count("\n") == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_every_failure_of_the_reference_is_tested_here(vectors):
    tested = ("unsorted_timestamps unknown_instance length_violation empty_trace "
              "non_multiple_block_size override_missing_instance negative_group_ttl")  # fmt: skip
    names = {v["name"] for v in vectors("litehit") if v["kind"] == "offline_error"}
    assert names == {f"offline_failfast_{name}" for name in tested.split()}


def test_a_trace_that_is_not_there(tmp_path, run):
    status, _, err = run(written(tmp_path, config(tmp_path)))
    assert status == 2 and err == f"hitcurve: error: {tmp_path / 'trace.jsonl'}: No such file or directory\n"


def test_a_configuration_tells_what_it_did_and_what_it_ignored(tmp_path, run):
    status, out, err = run(on_disk(tmp_path, [row(), row([1], 7, 1001)], hosts=3), "--workers", 1)
    assert (status, out) == (0, "")
    assert err.splitlines() == [
        f"hitcurve: warning: {tmp_path / 'config.json'}: hosts: unknown field, ignored (the nearest known one is "
        "'instances')",
        f"wrote 2 facts of 1 instance to {tmp_path / 'out'}",
    ]
    assert (tmp_path / "out" / CSV).read_text().splitlines()[1:] == [
        'trace_i_1000,i,1000,4,4,16384,"[]"',
        'trace_i_1001,i,1001,7,4,16384,"[[1,1]]"',
    ]


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "trace.jsonl"
    rows = [row([1, 2, 3, 4], 17, 1000 + k, name) for k, name in enumerate(["b", "a", "b", "a"])]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def instances_and_curves(folder):
    lines = (folder / CSV).read_text().splitlines()[1:]
    return [(line.split(",")[1], line.partition('"')[2].removesuffix('"')) for line in lines]


def test_a_trace_without_a_configuration(tmp_path, run, trace):
    """A lane for each instance, in a folder that is made."""
    status, _, err = run(trace, "-o", tmp_path / "made", "--block-size", 4, "--block-bytes", "1KiB")
    assert status == 0, err
    curve = "[[1,4]]"
    assert instances_and_curves(tmp_path / "made") == [("b", "[]"), ("a", "[]"), ("b", curve), ("a", curve)]
    assert ",17,4,1024," in (tmp_path / "made" / CSV).read_text()


def test_one_cache_for_all(tmp_path, run, trace):
    arguments = ("-o", tmp_path, "--block-size", 4, "--bytes-per-token", 16, "--override-instance-id", "one")
    assert run(trace, *arguments)[0] == 0
    assert instances_and_curves(tmp_path) == [("one", "[]")] + [("one", "[[1,4]]")] * 3


def test_several_block_sizes_and_lifetimes(tmp_path, run, trace):
    arguments = ("-o", tmp_path, "--block-size", 4, "--bytes-per-token", 16, "--cache-block-size", "4,8")
    assert run(trace, *arguments, "--ttl", "0.000000001,inf")[0] == 0
    found = instances_and_curves(tmp_path)
    assert [name for name, _ in found[:4]] == ["block4-ttl1e-09s", "block4-no-ttl", "block8-ttl1e-09s", "block8-no-ttl"]
    assert [curve for _, curve in found[4:8]] == ["[]", "[[1,4]]", "[]", "[[1,2]]"]
    assert ",8,128," in (tmp_path / CSV).read_text()


def test_hybrid_models_and_chained_keys(tmp_path, run, trace):
    arguments = ("-o", tmp_path, "--block-size", 4, "--block-bytes", 16384, "--linear-bytes", 4096, "--linear-step", 12)
    assert run(trace, *arguments, "--prefix-hash")[0] == 0
    assert instances_and_curves(tmp_path)[2] == ("b", "bytes:[[53248,3],[73728,4]]")
    assert run(trace, *arguments[:-1], 0)[0] == 0  # one a block
    assert instances_and_curves(tmp_path)[2] == ("b", "bytes:[[20480,1],[40960,2],[61440,3],[81920,4]]")


def test_traces_of_other_formats(tmp_path, run):
    """Tails are left out, tenants are instances; the same trace through standard input."""
    rows = [{"timestamp": k, "input_length": 20, "output_length": 1, "hash_ids": [1, 2, 10 + k]} for k in range(3)]
    path = tmp_path / "mooncake.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    arguments = ("--block-size", 8, "--bytes-per-token", 16)
    status, _, err = run(path, "-o", tmp_path / "a", *arguments)
    assert status == 0 and "note: partial tail blocks left out" in err
    assert instances_and_curves(tmp_path / "a") == [("instance", "[]")] + [("instance", "[[1,2]]")] * 2
    done = hitcurve("facts", "-", "-o", tmp_path / "b", *arguments, input=path.read_text())
    assert done.returncode == 0
    assert (tmp_path / "a" / CSV).read_bytes() == (tmp_path / "b" / CSV).read_bytes()


@pytest.mark.parametrize("workers", [1, 2])
def test_tair_rows_through_standard_input(tmp_path, trace, workers):
    done = hitcurve(
        "facts", "-", "-o", tmp_path / "o", "--block-size", 4, "--block-bytes", 1, "--workers", workers,
        input=trace.read_text(),
    )  # fmt: skip
    assert done.returncode == 0 and len(instances_and_curves(tmp_path / "o")) == 4


def test_reading_options_work_on_tair_rows_too(tmp_path, run, trace):
    arguments = ("-o", tmp_path, "--block-size", 4, "--block-bytes", 1)
    assert run(trace, *arguments, "--head", 3)[0] == 0
    assert instances_and_curves(tmp_path) == [("b", "[]"), ("a", "[]"), ("b", "[[1,4]]")]
    trace.write_text("\n".join(reversed(trace.read_text().splitlines())))
    assert run(trace, *arguments, "--sort")[0] == 0
    assert len(instances_and_curves(tmp_path)) == 4


def test_several_files_are_one_trace(tmp_path, run, trace):
    second = tmp_path / "second.jsonl"
    second.write_text(json.dumps(row([1, 2], 8, 5000, "a")) + "\n")
    arguments = ("-o", tmp_path / "o", "--block-size", 4, "--block-bytes", 1)
    assert run(trace, second, *arguments)[0] == 0
    assert instances_and_curves(tmp_path / "o")[-1] == ("a", "[[1,2]]")
    status, _, err = run(second, trace, *arguments)
    assert status == 2
    assert f"{trace}:1: timestamp_ns: wanted >= 5000, the time before it (in the file before), found 1000" in err


OUT = ["{trace}", "-o", "o", "--block-bytes", "1"]
STATES = [*OUT, "--linear-bytes", "1"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["{trace}"], "{trace}: is a trace, not a CONFIG: its facts need -o DIR"),
        (["{trace}", "{trace}"], "wanted one CONFIG"),
        (["{trace}", "--ttl", "5"], "without -o DIR wanted a CONFIG and no more than --workers"),
        (["{trace}", "--head", "5"], "without -o DIR wanted a CONFIG and no more than --workers"),
        (["{trace}", "-o", "o"], "wanted --block-bytes or --bytes-per-token"),
        ([*OUT, "--bytes-per-token", "1"], "wanted --block-bytes or --bytes-per-token"),
        (STATES, "--linear-bytes and --linear-step go together"),
        ([*STATES, "--linear-step", "6"],
         "--linear-step: wanted a multiple of the block size 4, found 6"),
        ([*OUT, "--cache-block-size", "4,8"], "--block-bytes tells one block size"),
        ([*OUT, "--cache-block-size", "6"], "wanted a multiple of the trace's 4, found 6"),
        ([*OUT, "--ttl", "5,6", "--override-instance-id", "x"],
         "--override-instance-id goes with one block size and one lifetime"),
        ([*OUT, "--ttl", "soon"], "wanted a time (300, 5m"),
        (["{trace}", "-o", "{trace}", "--block-bytes", "1"], "{trace}: is the trace itself; name another file"),
        (["-"], "-: a CONFIG is a file"),
        (["nowhere.json"], "nowhere.json: No such file or directory"),
        (["nowhere.jsonl", "-o", "o", "--block-bytes", "1"], "nowhere.jsonl: No such file or directory"),
    ],
)  # fmt: skip
def test_usage(tmp_path, run, trace, arguments, says, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments = [each.format(trace=trace) for each in arguments]
    block = ["--block-size", "4"] if "-o" in arguments else []
    status, out, err = run(*arguments, *block)
    assert (status, out) == (2, "") and err.count("\n") == 1
    assert says.format(trace=trace) in err
    assert [path.name for path in tmp_path.iterdir()] == ["trace.jsonl"]


def test_a_configuration_with_a_folder_beside_it(tmp_path):
    path = on_disk(tmp_path, [row()])
    assert "is a CONFIG, which names its own folder" in error_line(
        hitcurve("facts", path, "-o", tmp_path / "o", "--block-bytes", 1)
    )
