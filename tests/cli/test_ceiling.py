"""hitcurve curve --of-ceiling, as a script would read it."""

from __future__ import annotations

import json

import pytest

from hitcurve.cli import main


@pytest.fixture
def run(tmp_path, capsys):
    rows = [{"timestamp": 1000 * k, "input_length": 32, "hash_ids": [1, 2 + k % 3]} for k in range(9)]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def call(*args):
        with pytest.raises(SystemExit) as end:
            main(["curve", str(tmp_path / "t.jsonl"), "--block-size", "16", *args])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return call


def test_a_table_of_its_own(run):
    status, out, _ = run("--of-ceiling", "50%,100%", "--block-bytes", "1MiB", "--format", "json")
    assert status == 0
    points = json.loads(out)["points"]
    # 8 hits on block 1 (capacity 1), and 6 on the others: under blocks 1, 2 and 3 newer ones, so capacity 4
    assert [(p["ceiling_hit_blocks"], p["capacity_blocks"]) for p in points] == [(14, 1), (14, 4)]
    assert [p["capacity_bytes"] for p in points] == [1 << 20, 4 << 20]
    status, out, _ = run("--of-ceiling", "usual")
    assert status == 0 and out.startswith("60 % of the ceiling needs 4 blocks (64 tokens); 80 % needs ")
    status, out, _ = run("--of-ceiling", "usual", "--by", "window", "--window", "3", "--format", "csv")
    assert status == 0
    lines = out.splitlines()
    assert lines[1].startswith("window_start_seconds,requests,ttl_seconds,ceiling_hit_blocks,share_of_ceiling")
    assert len(lines) == 2 + 3 * 6


def test_refusals(run):
    for other in (["-c", "4"], ["--target", "80%"], ["--whole"], ["--plot", "-"]):
        status, out, err = run("--of-ceiling", "80%", *other)
        assert (status, out) == (2, "") and "--of-ceiling is a table of its own" in err
    assert run("--of-ceiling", "much")[0] == 2
