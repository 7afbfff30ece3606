"""hitcurve query as a script uses it."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pyarrow.parquet
import pytest

from hitcurve.offline.facts_file import CSV, PARQUET
from hitcurve.offline.facts_parquet import FactsParquet
from tests.cli.running import COMMAND, error_line, hitcurve
from tests.naive.facts import HEADER, Row, csv_text
from tests.offline.random_facts import in_columns

ROWS = [
    Row("r1", "b", 1, 13, 4, 1024, False, [(1, 2, 5), (4, 1, 9)], 8),
    Row("r2", "a", 2, 12, 4, 1024, True, [(1500, 1, 1), (4000, 3, 2)]),
    Row('r"3', "b", 3, 8, 4, 1024, False, [], 8),
]
ASK = ["--capacity", "2,4KiB", "-c", "0,inf,2"]
TOTALS = [3, 5, 0, 5, 3]


@pytest.fixture
def facts(tmp_path):
    (tmp_path / "facts.csv").write_text(csv_text(ROWS))
    with open(tmp_path / "facts.parquet", "wb") as file, FactsParquet(file) as out:
        out.put(in_columns(ROWS))
    return tmp_path


def test_lines(facts):
    done = hitcurve("query", facts / "facts.csv", *ASK)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.stderr, done.returncode) == ("", 0)
    assert [line.get("trace_id") for line in lines] == ["r1", "r2", 'r"3', None, None, None]
    assert [line["hit_blocks"] for line in lines[:3]] == [[2, 2, 0, 2, 2], [1, 3, 0, 3, 1], [0] * 5]
    assert [line.get("instance_id") for line in lines[3:]] == ["a", "b", None]
    assert lines[-1]["capacity"] == ["2", "4KiB", "0", "inf", "2"] and lines[-1]["total_hit_blocks"] == TOTALS
    assert hitcurve("query", "facts.parquet", *ASK, cwd=facts).stdout == done.stdout
    only = hitcurve("query", "facts.csv", *ASK, "--summary-only", cwd=facts).stdout
    assert only == "".join(done.stdout.splitlines(keepends=True)[3:])


def test_facts_from_pipes_and_compressed(facts):
    wanted = hitcurve("query", "facts.parquet", *ASK, cwd=facts).stdout
    for name in ("facts.csv", "facts.parquet"):
        data = (facts / name).read_bytes()
        for given in (data, gzip.compress(data)):
            done = subprocess.run([*COMMAND, "query", "-", *ASK], input=given, capture_output=True, timeout=60)
            assert (done.stdout.decode(), done.stderr) == (wanted, b"")
            os.mkfifo(facts / "pipe")
            with subprocess.Popen([*COMMAND, "query", facts / "pipe", *ASK], stdout=subprocess.PIPE) as process:
                (facts / "pipe").write_bytes(given)
                assert process.stdout is not None and process.stdout.read().decode() == wanted
            (facts / "pipe").unlink()


def test_the_original_list(facts):
    done = hitcurve("query", facts / "facts.csv", "--capacity-gb", "0.000002,8", "--capacity-gb", "-1", "--six-digits")
    total = done.stdout.splitlines()[-1]
    assert total == (
        '{"summary":true,"requests":3,"total_input_tokens":33,"capacity_gb":[2e-06,8,-1],"total_hit_blocks":[3,5,5],'
        '"total_hit_tokens":[12,20,20],"hit_rates":[0.363636,0.606061,0.606061]}'
    )


@pytest.mark.parametrize("six_digits", [[], ["--six-digits"]])
def test_capacities_of_any_size(six_digits, facts):
    asked = [1e300, 1.5e19, 1e18, float("inf"), float("-inf"), -0.0]
    arguments = ",".join(map(str, asked)), "--summary-only", *six_digits
    total = json.loads(hitcurve("query", facts / "facts.csv", "--capacity-gb", *arguments).stdout.splitlines()[-1])
    assert total["capacity_gb"] == [1e300, 1.5e19, 1e18, -1, -1, 0]
    assert total["total_hit_blocks"] == [5, 5, 5, 5, 5, 0]


def test_one_lifetime_for_all(facts):
    def hits(*options):
        done = hitcurve("query", facts / "facts.parquet", "-c", "inf", "--summary-only", *options)
        return json.loads(done.stdout.splitlines()[-1])["total_hit_blocks"]

    assert [hits(), hits("--ttl", "inf"), hits("-t", "1h")] == [[5], [6], [6]]
    line = error_line(hitcurve("query", facts / "facts.csv", "-c", "inf", "--ttl", "5m"))
    assert line.startswith(f"{facts / 'facts.csv'}: a time to live needs the ages of blocks")


def test_forms(facts):
    text = hitcurve("query", "facts.parquet", *ASK, "--format", "table", cwd=facts).stdout
    assert text.splitlines()[0].split() == [
        "instance", "capacity", "requests", "input", "tokens", "hit", "blocks", "hit", "tokens", "hit", "rate"
    ]  # fmt: skip
    assert text.splitlines()[-5].split() == ["(all)", "2", "3", "33", "3", "12", "36.4", "%"]
    assert "3 requests of 2 instances" in text and "TTL: each instance's own" in text
    csv = hitcurve("query", "facts.parquet", "-c", "4KiB", "--format", "csv", cwd=facts).stdout
    assert csv.splitlines() == [
        "trace_id,instance_id,timestamp_ns,input_token_len,capacity,hit_blocks,hit_rate",
        f'"r1","b",1,13,"4KiB",2,{8 / 13}',
        '"r2","a",2,12,"4KiB",3,1',
        '"r""3","b",3,8,"4KiB",0,0',
    ]
    for name, wanted in [
        ("out.csv", csv),
        ("out.txt", None),
        ("out.jsonl", None),
        ("out.parquet", None),
        ("out", None),
    ]:
        assert hitcurve("query", "facts.parquet", "-c", "4KiB", "-o", name, cwd=facts).stdout == ""
        if wanted:
            assert (facts / name).read_text() == wanted
    assert (facts / "out.txt").read_text().startswith("instance")
    assert (facts / "out").read_text() == (facts / "out.jsonl").read_text()
    assert pyarrow.parquet.read_table(facts / "out.parquet")["hit_blocks"].to_pylist() == [2, 3, 0]
    sums = hitcurve("query", "facts.parquet", "-c", "4KiB", "--format", "csv", "--summary-only", "-o", "-", cwd=facts)
    assert sums.stdout.splitlines()[-1] == f',"4KiB",3,33,5,20,{20 / 33}'


def test_a_lower_bound_is_said(facts):
    told = {"instances": [{"instance_id": "b", "exact": False, "hits": "a lower bound"}, {"exact": True}]}
    with open(facts / "more.parquet", "wb") as file, FactsParquet(file, told) as out:
        out.put(in_columns(ROWS))
    assert (
        "note: b: a lower bound" in hitcurve("query", "more.parquet", "-c", "1", "--format", "table", cwd=facts).stdout
    )


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["facts.csv"], "wanted --capacity or --capacity-gb, one of them"),
        (["facts.csv", "-c", "1", "--capacity-gb", "1"], "wanted --capacity or --capacity-gb, one of them"),
        (["facts.csv", "-c", "24 gigs"], "wanted blocks (0, 16384, 16k, 1m), bytes (24GiB, 80GB) or inf, found '24 g"),
        (["facts.csv", "-c", "-1"], "found '-1'"),
        (["facts.csv", "-c", ","], "--capacity: wanted at least one value, found none"),
        (["facts.csv", "--capacity-gb", "1,x"], "found 'x'"),
        (["facts.csv", "--capacity-gb", "nan"], "found 'nan'"),
        (["facts.csv", "-c", "1", "--six-digits", "--format", "csv"], "--six-digits goes with --format jsonl"),
        (["facts.csv", "-c", "1", "--six-digits", "-o", "x.csv"], "--six-digits goes with --format jsonl"),
        (["facts.csv", "-c", "1", "-o", "facts.csv"], "facts.csv: is the facts file itself; name another file"),
        (["facts.csv", "-c", "1", "-o", "no/where.jsonl"], "where.jsonl"),
        (["nowhere.csv", "-c", "1"], "nowhere.csv: No such file or directory"),
        ([".", "-c", "1"], ".: no facts in this folder: wanted litehit_facts.parquet or litehit_facts.csv"),
        ([], "Missing argument"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_usage(args, says, facts):
    assert says in error_line(hitcurve("query", *args, cwd=facts))


@pytest.mark.parametrize("asked", ["run", "run/litehit_facts.csv", "run/litehit_facts.parquet"])
@pytest.mark.parametrize("output", [CSV, PARQUET])
def test_answers_are_not_written_over_facts(asked, output, facts):
    (facts / "run").mkdir()
    (facts / "facts.csv").rename(facts / "run" / CSV)
    (facts / "facts.parquet").rename(facts / "run" / PARQUET)
    before = (facts / "run" / output).read_bytes()
    done = hitcurve("query", asked, "-c", "1", "-o", f"run/{output}", cwd=facts)
    assert error_line(done) == f"run/{output}: is the facts file itself; name another file"
    assert (facts / "run" / output).read_bytes() == before


@pytest.mark.parametrize("form", ["jsonl", "table", "csv", "parquet"])
def test_a_bad_row_leaves_the_old_file(form, facts):
    text = csv_text(ROWS)
    (facts / "bad.csv").write_text(text + 't,i,1,2,3,0,"[]"\n')
    (facts / "out").write_text("old")
    line = error_line(hitcurve("query", "bad.csv", "-c", "1", "--format", form, "-o", "out", cwd=facts))
    assert line == "bad.csv:5: block_bytes: wanted at least 1, found 0"
    assert (facts / "out").read_text() == "old"
    assert sorted(p.name for p in facts.iterdir()) == ["bad.csv", "facts.csv", "facts.parquet", "out"]


def test_what_is_no_facts_file(facts):
    (facts / "other").write_text('{"type": "get"}\n')
    assert error_line(hitcurve("query", "other", "-c", "1", cwd=facts)).startswith(f"other:1: header: wanted {HEADER}")
    (facts / "empty").write_text("")
    assert error_line(hitcurve("query", "empty", "-c", "1", cwd=facts)) == "empty: the file is empty"


def test_a_reader_that_goes_away_is_no_error(facts):
    (facts / "long.csv").write_text(csv_text(ROWS * 5000))
    with subprocess.Popen(
        [*COMMAND, "query", "long.csv", "-c", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=facts
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.read(100)
        process.stdout.close()
        assert (process.stderr.read(), process.wait(60)) == (b"", 141)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_asking_parquet_facts_waits_for_no_compiler_and_no_pandas(form, facts):
    code = f"""
import sys
from hitcurve.cli import main
try:
    main(["query", "facts.parquet", "-c", "1", "--format", {form!r}, "-o", "out"])
except SystemExit as end:
    print(end.code, [name for name in ("numba", "pandas", "hitcurve.lru", "hitcurve.trace") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=facts)
    assert (done.stdout, done.stderr) == ("0 []\n", "")
