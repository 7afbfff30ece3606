"""The batch runner: its facts are those of an obvious run, whatever the routing, and the same with all threads."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve import publish
from hitcurve.errors import TraceError
from hitcurve.formats import batches
from hitcurve.lru import LruStack
from hitcurve.offline.config import read_config
from hitcurve.offline.cutting import cut
from hitcurve.offline.facts_parquet import read_parquet
from hitcurve.offline.run import CSV, PARQUET, run_config
from tests.naive import offline as naive
from tests.naive.facts import csv_text, hits
from tests.naive.lru import forms_a_tree, naive_hits
from tests.offline.configs import config, group, hybrid, instance
from tests.offline.random_runs import on_disk, runs
from tests.offline.test_facts_parquet import rows_of

SECOND = 10**9


def run(folder: Path, made: dict[str, Any], rows: list[dict[str, Any]], documents: int = 3, **more: Any) -> Any:
    """The result of a run whose batches have few rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "DOCUMENTS", documents)
        patch.setattr(publish, "GRACE", 0)
        return run_config(read_config(on_disk(folder, {**made, **more}, rows)))


def read(folder: Path) -> tuple[str, dict[str, Any], list[Any]]:
    """The CSV text, and what the Parquet file tells and holds."""
    told, found = read_parquet(folder / "out" / PARQUET, "x")
    return (folder / "out" / CSV).read_bytes().decode(), told, rows_of(found)


@settings(max_examples=150, deadline=None)
@given(runs(), st.integers(1, 4))
def test_facts_are_those_of_an_obvious_run(made, documents):
    options, rows = made
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        wanted = naive.facts({**config(folder), **options}, rows)
        if not rows or not wanted:
            with pytest.raises(TraceError, match=r"no usable row|the file is empty"):
                run(folder, options, rows, documents)
            assert list((folder / "out").iterdir()) == []
            return
        result = run(folder, options, rows, documents)
        text, told, found = read(folder)
        assert text == csv_text(wanted)
        assert found == wanted
        counts = {name: sum(row.instance_id == name for row in wanted) for name in {row.instance_id for row in wanted}}
        assert result.requests == counts == {each["instance_id"]: each["requests"] for each in told["instances"]}


@settings(max_examples=40, deadline=None)
@given(runs(), st.integers(1, 4))
def test_threads_change_nothing(made, documents):
    options, rows = made
    contents = []
    for workers in (1, 4, 2):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            try:
                run(folder, options, rows, documents, pipeline_worker_count=workers)
            except TraceError as error:
                contents.append(str(error).replace(place, ""))
            else:
                contents.append([(folder / "out" / name).read_bytes() for name in (CSV, PARQUET)])
    assert contents[0] == contents[1] == contents[2]


@settings(max_examples=40, deadline=None)
@given(runs())
def test_fanout_is_one_run_for_each_instance(made):
    options, rows = made
    if all(row["type"] == "write" for row in rows):
        return
    options = {**options, "fanout_all_instances": True, "override_instance_id": ""}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run(folder, options, rows)
        text, _, together = read(folder)
        for each in options["instances"]:
            run(folder, {**options, "instances": [each]}, rows)
            alone, _, own = read(folder)
            assert own == [row for row in together if row.instance_id == each["instance_id"]]
            assert set(alone.splitlines()) <= set(text.splitlines())


@settings(max_examples=40, deadline=None)
@given(runs(), st.integers(1, 3))
def test_a_group_with_a_ttl_is_the_facts_cut_at_it(made, ttl):
    options, rows = made
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not naive.facts({**config(folder), **options}, rows):
            return
        texts, cuts = [], []
        for seconds in (0, ttl):
            groups = [{**each, "ttl_seconds": seconds} for each in options["instance_groups"]]
            run(folder, {**options, "instance_groups": groups}, rows)
            texts.append(read(folder)[0])
            _, found = read_parquet(folder / "out" / PARQUET, "x")
            cuts.append([cut(batch, ttl * SECOND) for batch in found])
        pairs = [[(row.offsets.tolist(), row.first.tolist(), row.second.tolist()) for row in each] for each in cuts]
        assert pairs[0] == pairs[1]
        curves = [line.rpartition(',"')[2] for line in texts[1].splitlines()[1:]]
        wanted = [
            json.dumps([list(p) for p in batch.fact(r)], separators=(",", ":"))
            for batch in cuts[0]
            for r in range(len(batch))
        ]
        assert [curve.removeprefix("bytes:").removesuffix('"') for curve in curves] == wanted


@settings(max_examples=60, deadline=None)
@given(runs(hybrids=False))
def test_rows_are_those_of_the_incremental_core(made):
    options, rows = made
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not naive.facts({**config(folder), **options}, rows):
            return
        run(folder, {**options, "fanout_all_instances": True, "override_instance_id": ""}, rows)
        found = iter(read(folder)[2])
        whole = {**config(folder), **options}
        lanes = [(LruStack("raw"), each, naive.group_of(whole, each)) for each in options["instances"]]
        for row in rows:
            for stack, each, own_group in lanes:
                if row["type"] != "write":
                    keys = naive.lane_keys(row["keys"], whole, each, own_group)
                    assert next(found).pairs == stack.process(keys, row["timestamp_ns"])
        assert next(found, None) is None


@settings(max_examples=100, deadline=None)
@given(runs(hybrids=False))
def test_hits_are_those_of_real_caches(made):
    """A cache for each capacity and lifetime: the facts' hits on a tree; without one they are not more, and exact at
    infinite capacity."""
    options, rows = made
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        whole = {**config(folder), **options}
        if not naive.facts(whole, rows):
            return
        result = run(folder, options, rows)
        _, told, found = read(folder)
        exact = {each["instance_id"]: each["exact"] for each in told["instances"]}
        assert len(result.notes) == sum(not each for each in exact.values())
        for each in options["instances"]:
            name, own_group = each["instance_id"], naive.group_of(whole, each)
            own = [row for _, row in naive.own_reads(whole, rows, name)]
            keys = [naive.lane_keys(row["keys"], whole, each, own_group) for row in own]
            times = [row["timestamp_ns"] for row in own]
            facts_ = [row for row in found if row.instance_id == name]
            tree = forms_a_tree(keys)
            assert exact.get(name, True) == tree
            for ttl in (None, SECOND, 2 * SECOND):
                for capacity in (0, 1, 2, 3, 5, 8, None):
                    true = naive_hits(keys, times, capacity, ttl)
                    ours = [hits(row, None if capacity is None else ("blocks", capacity), ttl) for row in facts_]
                    if tree or capacity is None:
                        assert ours == true
                    else:
                        assert all(a <= b for a, b in zip(ours, true, strict=True))


def reads(requests: list[list[int]], lengths: list[int] | None = None, **more: Any) -> list[dict[str, Any]]:
    lengths = lengths or [4 * len(keys) for keys in requests]
    return [
        {
            "type": "request",
            "instance_id": "i",
            "timestamp_ns": 1000 * (k + 1),
            "keys": keys,
            "input_len": length,
            **more,
        }
        for k, (keys, length) in enumerate(zip(requests, lengths, strict=True))
    ]


def curves(text: str) -> list[Any]:
    return [
        json.loads(line.rpartition(',"')[2].removesuffix('"').removeprefix("bytes:")) for line in text.splitlines()[1:]
    ]


def test_the_worked_example_end_to_end(tmp_path):
    """7, 7 and 8 blocks of 54 tokens; the other order of committing would have hit 2 blocks."""
    a, b, c, d, e = 1, 2, 3, 4, 5
    keys = [[a, b, c], [a, b, d], [a, b, c], [a, e], [a, e]]
    spec = {
        "location_spec_infos": [{"name": "kv", "size": 1024}],
        "location_spec_groups": [{"name": "full", "spec_names": ["kv"]}],
    }
    run(tmp_path, config(tmp_path, instances=[instance(**spec)]), reads(keys, [13, 12, 13, 8, 8]))
    text, _, found = read(tmp_path)
    assert curves(text) == [[], [[1, 2]], [[1, 2], [4, 1]], [[1, 1]], [[1, 2]]]
    for capacity, own, total in (
        (("bytes", 2048), [0, 2, 2, 1, 2], 7),
        (("bytes", 3072), [0, 2, 2, 1, 2], 7),
        (None, [0, 2, 3, 1, 2], 8),
    ):
        assert [hits(row, capacity, None) for row in found] == own and sum(own) == total
    assert sum(row.input_token_len for row in found) == 54
    assert sum(naive_hits(keys, capacity=2, tail_first=False)) == 2


def test_hybrid_instances(tmp_path):
    """The reference's instance of 16384 and 4096 bytes, a state every 3 blocks; and with a lifetime of a second."""
    run(tmp_path, config(tmp_path, instances=[hybrid()]), reads([[1, 2, 3, 4]] * 2, [17, 17], instance_id="h"))
    text, _, found = read(tmp_path)
    assert curves(text) == [[], [[53248, 3], [73728, 4]]] and "bytes:" in text and found[1].block_bytes == 16384
    times = (1, SECOND + 1, SECOND + 2)
    rows = [{**row, "timestamp_ns": now} for row, now in zip(reads([[1]] * 3, instance_id="h"), times, strict=True)]
    run(tmp_path, config(tmp_path, instances=[hybrid()], instance_groups=[group(ttl_seconds=1)]), rows)
    assert curves(read(tmp_path)[0]) == [[], [], [[20480, 1]]]


def test_keys_that_stop_forming_a_tree_are_told(tmp_path):
    result = run(tmp_path, config(tmp_path), reads([[1, 2, 3], [1, 2], [2, 2, 1, 2], [2, 1]]))
    text, told, _ = read(tmp_path)
    assert curves(text) == [[], [[1, 2]], [[2, 4]], [[1, 2]]]
    assert told["instances"][0]["exact"] is False and "a lower bound" in told["instances"][0]["hits"]
    assert result.notes == (f"i: {told['instances'][0]['hits']}",)


def test_a_run_of_two_thousand_rows(tmp_path, vectors):
    vector = next(v for v in vectors("litehit") if v["name"] == "offline_parallel_equals_serial")
    rows = reads([[100 * (i % 13) + k for k in (1, 2, 3)] for i in range(2000)], [13] * 2000)
    rows = [{**row, "timestamp_ns": 1000 + i, "trace_id": f"t{i}"} for i, row in enumerate(rows)]
    files = []
    for workers in vector["expected"]["files_byte_identical_for_workers"]:
        run(tmp_path, config(tmp_path, pipeline_worker_count=workers), rows, documents=77)
        files.append([(tmp_path / "out" / name).read_bytes() for name in (CSV, PARQUET)])
    assert files[0] == files[1]
    text, _, found = read(tmp_path)
    assert len(found) == vector["expected"]["rows"]
    assert all(curve == vector["expected"]["derived_curve_from_row_14_on"] for curve in curves(text)[13:])
    for name, total in vector["expected"]["derived_total_hit_blocks_by_capacity"].items():
        capacity = None if name == "inf" else ("blocks", int(name))
        assert sum(hits(row, capacity, None) for row in found) == total


def test_the_reference_runs(tmp_path, vectors):
    """Override with prefix hash; write rows; fan-out over two block sizes."""
    listed = [v for v in vectors("litehit") if v["kind"] == "offline" and type(v["requests"]) is list]
    assert len(listed) == 3
    for vector in listed:
        default = {"type": "request", "instance_id": "service" if "override_instance_id" in vector else "i"}
        rows = [
            {**default, **{{"len": "input_len", "timestamp": "timestamp_ns"}.get(k, k): v for k, v in request.items()}}
            for request in vector["requests"]
        ]
        names = [(each["instance_id"], each["block_size"]) for each in vector.get("instances", [])]
        names = names or [(vector.get("override_instance_id", "i"), vector["block_size"])]
        made = config(
            tmp_path,
            block_size=vector.get("trace_block_size", vector.get("block_size")),
            instance_groups=[
                group(ttl_seconds=vector["ttl"], enable_prefix_hash=vector.get("enable_prefix_hash", False))
            ],
            instances=[instance(name, size) for name, size in names],
            override_instance_id=vector.get("override_instance_id", ""),
            fanout_all_instances=vector.get("fanout_all_instances", False),
        )
        run(tmp_path, made, rows)
        text, _, found = read(tmp_path)
        expected = vector["expected"]
        assert len(found) == expected["rows"], vector["name"]
        for name, _ in names:
            own = [curve for curve, row in zip(curves(text), found, strict=True) if row.instance_id == name]
            assert own == expected.get(name, expected.get("hit_curves_rle")), vector["name"]
