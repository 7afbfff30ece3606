"""What the verbs print, as a script would read it."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
from pathlib import Path

import pytest

import hitcurve as hc
from hitcurve.cli import main
from tests.cli.running import error_line, hitcurve

POINT = {
    "capacity_blocks", "capacity_bytes", "ttl_seconds", "hit_blocks", "hit_tokens", "block_hit_ratio", "token_hit_ratio"
}  # fmt: skip


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    """Two conversations that share a system prompt, block size 16, milliseconds."""
    path = tmp_path_factory.mktemp("verbs") / "trace.jsonl"
    rows = []
    for k in range(40):
        start = 100 * (k % 2 + 1)
        ids = [1, 2, 3, *range(start, start + 2 * (k // 2))]
        row = {"timestamp": 1000 * k, "input_length": 16 * len(ids), "output_length": 7, "hash_ids": ids}
        rows.append(json.dumps({**row, "session_id": f"s{k % 2}", "block_size": 16}))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def run(capsys):
    """Run a command in this process; returns (status, stdout, stderr)."""

    def call(*args):
        with pytest.raises(SystemExit) as end:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


def test_curve_as_json(run, trace):
    status, out, err = run(
        "curve", trace, "-c", "16,1k,inf", "--ttl", "5,inf", "--format", "json", "--bytes-per-token", 64
    )
    assert (status, err) == (0, "")
    document = json.loads(out)
    facts = hc.lru_facts(hc.read_trace(trace))
    assert document["trace"]["requests"] == 40 and document["trace"]["block_size"] == 16
    assert len(document["points"]) == 6
    for point in document["points"]:
        assert set(point) >= POINT
        assert point["hit_blocks"] == facts.hit_blocks(point["capacity_blocks"], point["ttl_seconds"])
        assert point["hit_tokens"] == 16 * point["hit_blocks"]
        blocks = point["capacity_blocks"]
        assert point["capacity_bytes"] == (None if blocks is None else blocks * 64 * 16)


def test_bytes_become_blocks_by_one_floor_division(run, trace):
    _, out, _ = run("curve", trace, "-c", "10KiB,1023B", "--block-bytes", "1000", "--format", "json")
    points = json.loads(out)["points"]
    assert [(p["capacity_blocks"], p["capacity_bytes"]) for p in points] == [(10, 10240), (1, 1023)]


def test_curve_in_every_format(run, trace):
    _, table, _ = run("curve", trace)
    _, markdown, _ = run("curve", trace, "--format", "markdown")
    _, text, _ = run("curve", trace, "--format", "csv")
    assert " of tokens needs " in table.splitlines()[0]
    assert markdown.startswith("- ") and "\n| " in markdown
    provenance, *lines = text.splitlines()
    assert json.loads(provenance[2:])["trace"]["requests"] == 40
    assert {"capacity_blocks", "hit_blocks"} <= set(next(csv.DictReader(io.StringIO("\n".join(lines)))))


def test_the_ending_of_the_file_says_the_format(run, trace, tmp_path):
    for ending, start in [("json", "{"), ("csv", "# {"), ("md", "- "), ("txt", "90 %")]:
        assert run("curve", trace, "--target", "90%", "-o", tmp_path / f"out.{ending}") == (0, "", "")
        assert (tmp_path / f"out.{ending}").read_text().startswith(start)
    assert run("curve", trace, "-o", tmp_path / "out.xyz")[0] == 2
    assert run("curve", trace, "-o", tmp_path / "out.xyz", "--format", "json")[0] == 0
    assert json.loads((tmp_path / "out.xyz").read_text())["points"]
    status, _, err = run("curve", trace, "-o", tmp_path / "out.parquet", "--format", "json")
    assert status == 2 and "the ending says parquet" in err and not (tmp_path / "out.parquet").exists()


def test_no_name_is_no_folder(run):
    assert run("stats", "")[::2] == (2, "hitcurve: error: -: the name of the file to read is empty\n")


def test_groups_and_windows(run, trace):
    _, out, _ = run("curve", trace, "--by", "session", "-c", "inf", "--format", "json")
    assert [point["session"] for point in json.loads(out)["points"]] == ["s0", "s1"]
    _, out, _ = run("curve", trace, "--by", "window", "--window", "10s", "-c", "inf", "--format", "json")
    assert [point["requests"] for point in json.loads(out)["points"]] == [10] * 4
    assert "no tenant" in error_line(hitcurve("curve", trace, "--by", "tenant"))


def test_plots(run, trace, tmp_path):
    status, out, _ = run("curve", trace, "--plot", tmp_path / "a.svg", "--plot", tmp_path / "a.png", "--plot", "-")
    assert status == 0 and "█" in out
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")


def test_standard_input_and_progress(trace):
    done = hitcurve("curve", "-", "--progress", "--format", "json", input=trace.read_text())
    assert json.loads(done.stdout)["trace"]["requests"] == 40
    assert "40 rows" in done.stderr and "MB/s" in done.stderr
    assert hitcurve("curve", trace, "--format", "json").stderr == ""


def test_a_pipe_with_a_name_is_read_like_a_file(trace, tmp_path):
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(trace.read_bytes()), daemon=True)
    writer.start()
    done = hitcurve("stats", pipe, "--progress", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert done.stdout == hitcurve("stats", trace, "--format", "json").stdout.replace(str(trace), str(pipe))


@pytest.mark.parametrize("option", ["--before", "--after"])
def test_no_stretch_of_time_is_infinite(run, trace, option):
    status, out, err = run("curve", trace, option, "inf")
    assert (status, out) == (2, "") and "wanted a time" in err


def test_head(run, trace):
    _, out, _ = run("curve", trace, "--head", 3, "--format", "json")
    assert json.loads(out)["trace"]["requests"] == 3


@pytest.mark.parametrize(
    ("row", "status"), [("", 0), ('{"timestamp": 1, "input_length": 16, "hash_ids": [1]}\n', 1), ("nonsense\n", 1)]
)
def test_check_tells_by_its_exit_status(run, trace, tmp_path, row, status):
    path = tmp_path / "t.jsonl"
    path.write_text(trace.read_text() + row)
    code, out, err = run("check", path, "--format", "json")
    assert (code, err) == (status, "")
    assert (json.loads(out)["findings"] > 0) is (status == 1)


@pytest.mark.parametrize("content", ["", "nonsense\n"])
def test_check_of_what_is_no_trace(tmp_path, content):
    path = tmp_path / "t.jsonl"
    path.write_text(content)
    assert str(path) in error_line(hitcurve("check", path))


def test_convert_there_and_back_changes_no_curve(run, trace, tmp_path):
    ends = ["a.parquet", "b.jsonl.zst", "c.parquet", "d.jsonl.gz"]
    source = trace
    curves = [run("curve", trace, "--whole", "--format", "json")[1]]
    for end in ends:
        status, out, err = run("convert", source, "-o", tmp_path / end)
        assert (status, out) == (0, "") and "40 requests" in err
        source = tmp_path / end
        curves.append(run("curve", source, "--whole", "--format", "json")[1])
    assert len({json.dumps(json.loads(curve)["points"]) for curve in curves}) == 1


def test_formats(run):
    _, out, _ = run("formats", "--format", "json")
    names = [form["name"] for form in json.loads(out)["formats"]]
    assert {"mooncake", "parquet", "jsonl"} <= set(names)
    for name in names:
        status, out, _ = run("formats", name)
        assert status == 0 and name in out
    assert "did you mean 'mooncake'" in error_line(hitcurve("formats", "moonkake"))


def test_a_named_format_gives_the_same(run, trace):
    assert run("curve", trace, "--format", "json") == run(
        "curve", trace, "--format", "json", "--input-format", "mooncake"
    )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(run, shell):
    status, out, _ = run("completion", shell)
    assert status == 0 and "_HITCURVE_COMPLETE" in out


def test_completion_of_names(monkeypatch, run):
    monkeypatch.setenv("_HITCURVE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "hitcurve curve --input-format moon")
    monkeypatch.setenv("COMP_CWORD", "3")
    assert "plain,mooncake" in run()[1]


def test_synth_is_repeatable_and_its_options_are_the_workload(run, tmp_path):
    from dataclasses import fields

    from hitcurve.cli.synth import WORKLOAD
    from hitcurve.synth import Workload

    assert {f.name: f.default for f in fields(Workload)} == {name: default for name, (default, _) in WORKLOAD.items()}
    for name in ("a.parquet", "b.parquet"):
        status, out, err = run("synth", "--sessions", 3, "--seed", 5, "-o", tmp_path / name)
        assert (status, out) == (0, "") and err.startswith("wrote ")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert "block_size" in run("synth", "--block-size", 0, "-o", tmp_path / "c.parquet")[2]
    assert not (tmp_path / "c.parquet").exists()


def test_a_stretch_of_time_and_larger_blocks(run, trace):
    _, out, _ = run("curve", trace, "--after", "10s", "--before", "30s", "--reblock", 3, "--format", "json")
    described = json.loads(out)["trace"]
    assert (described["requests"], described["block_size"]) == (20, 48)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["--after", "10s", "--before", "0.5m"], "requests from 10 s up to 30 s after the first"),
        (["--after", "10s"], "requests from 10 s after the first"),
        (["--before", "0.25m"], "requests up to 15 s after the first"),
    ],
)
def test_a_stretch_of_time_is_told_in_times_that_people_read(run, trace, asked, said):
    assert f"note: {said}" in run("curve", trace, *asked)[1].splitlines()


def test_what_is_asked_twice_is_answered_once(run, trace):
    _, out, _ = run("curve", trace, "-c", "16,1k", "-c", "1024,16", "--ttl", "1m,60,inf", "--format", "json")
    points = [(p["capacity_blocks"], p["ttl_seconds"]) for p in json.loads(out)["points"]]
    assert sorted(points, key=str) == sorted([(16, 60), (1024, 60), (16, None), (1024, None)], key=str)


def test_an_empty_stretch_of_time_is_refused(run, trace):
    status, out, err = run("curve", trace, "--after", "2d")
    assert (status, out) == (2, "") and "no request arrived" in err


def test_converting_tells_what_was_left_out(run, trace, tmp_path):
    (tmp_path / "bad.jsonl").write_text(trace.read_text() + "{}\n")
    status, out, err = run("convert", tmp_path / "bad.jsonl", "--skip-bad", "-o", tmp_path / "out.parquet")
    note, wrote = err.splitlines()[-2:]
    assert (status, out, wrote) == (0, "", f"wrote 40 requests to {tmp_path / 'out.parquet'}")
    assert note.startswith(f"hitcurve: note: 1 bad row(s) left out, the first: {tmp_path / 'bad.jsonl'}:41: ")


@pytest.mark.parametrize("asked", ["copy.jsonl", ".", "*.jsonl"])
@pytest.mark.parametrize("verb", [["convert", "--head", 1], ["curve"], ["simulate", "-c", 9], ["stats"], ["check"]])
def test_results_are_not_written_over_the_trace(run, trace, tmp_path, monkeypatch, verb, asked):
    monkeypatch.chdir(tmp_path)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(trace.read_bytes())
    status, out, err = run(*verb, asked, "-o", "copy.jsonl")
    assert (status, out) == (2, "") and "copy.jsonl: is the trace itself; name another file" in err
    assert copy.read_bytes() == trace.read_bytes()


def test_demo(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run("demo")
    assert (status, err) == (0, "")
    assert " of tokens needs " in out.splitlines()[0] and "█" in out
    made = tmp_path / "hitcurve-demo"
    assert sorted(path.name for path in made.iterdir()) == ["curve.png", "curve.svg", "trace.parquet"]
    following = [
        line.split()[1:] for line in out.splitlines() if line.startswith("  hitcurve ") and "your-" not in line
    ]
    assert len(following) == 3
    for command in following:
        assert run(*command)[0] == 0


def test_demo_into_what_is_no_folder(run, tmp_path):
    (tmp_path / "file").write_text("mine")
    status, out, err = run("demo", "--folder", tmp_path / "file")
    assert (status, out, err) == (2, "", f"hitcurve: error: {tmp_path / 'file'}: File exists\n")
    assert (tmp_path / "file").read_text() == "mine"


HYBRID = ["--block-bytes", "1MiB", "--linear-bytes", "3MiB", "--linear-step", 64]


def test_curve_of_a_hybrid_model(run, trace):
    status, out, err = run("curve", trace, *HYBRID, "-c", "40MiB,inf", "--ttl", "5,inf", "--format", "json")
    assert (status, err) == (0, "")
    facts = hc.hybrid_facts(hc.read_trace(trace), full_bytes=1 << 20, linear_bytes=3 << 20, linear_step_tokens=64)
    for point in json.loads(out)["points"]:
        assert point["hit_blocks"] == facts.hit_blocks(point["capacity_bytes"], point["ttl_seconds"])
    status, out, _ = run("curve", trace, *HYBRID)
    assert status == 0 and "states every 4 blocks" in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--linear-bytes", "3MiB", "--block-bytes", "1MiB"], "--linear-step"),
        (["--linear-bytes", "3MiB", "--linear-step", 64], "--block-bytes"),
        ([*HYBRID, "--of-ceiling", "80%"], "--of-ceiling"),
        ([*HYBRID, "-c", "16k"], "bytes"),
        ([*HYBRID[:5], 50], "multiple of the block size 16"),
    ],
)
def test_hybrid_models_that_make_no_sense(run, trace, args, words):
    status, out, err = run("curve", trace, *args)
    assert (status, out) == (2, "") and words in err and len(err.splitlines()) == 1
