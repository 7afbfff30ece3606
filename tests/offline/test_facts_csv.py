"""litehit_facts.csv: written byte for byte, read to the last digit, refused with a reason."""

from __future__ import annotations

import gzip
import io
from contextlib import closing
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, OutputError, TraceError
from hitcurve.formats.opening import Opened
from hitcurve.offline import facts_csv, facts_csv_reading
from hitcurve.offline.cutting import cut
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.facts_csv import FactsCsv
from hitcurve.offline.facts_csv_reading import read_csv
from tests.formats.hostile import mutated
from tests.naive import facts as naive
from tests.offline.random_facts import fact_rows, in_columns


def written(rows: FactRows) -> str:
    file = io.BytesIO()
    FactsCsv(file).put(rows)
    return file.getvalue().decode()


@settings(max_examples=150, deadline=None)
@given(fact_rows())
def test_what_is_written_is_what_the_reference_says(rows):
    assert written(in_columns(rows)) == naive.csv_text(rows)


@settings(max_examples=60, deadline=None)
@given(fact_rows(rising=False), st.integers(1, 9))
def test_cut_at_any_time_to_live(rows, ttl):
    left = cut(in_columns(rows), ttl)
    assert left.age_ns is None
    assert [[list(pair) for pair in left.fact(i)] for i in range(len(rows))] == [naive.curve(r, ttl) for r in rows]
    assert cut(left) is left
    with pytest.raises(BadParameter, match="no ages"):
        cut(left, ttl)


def test_pieces_are_the_whole(monkeypatch):
    rows = [naive.Row(f"t{k}", "i", k, 9, 1, 1, False, [(1, 1, 0), (3, 1, 0)] * (k % 5)) for k in range(60)]
    for k, row in enumerate(rows):
        row.pairs = [(1 + 2 * i, 1, 0) for i in range(k % 5)]
    whole = written(in_columns(rows))
    for piece in (1, 3, 1000):
        monkeypatch.setattr(facts_csv, "PIECE", piece)
        assert written(in_columns(rows)) == whole == naive.csv_text(rows)


def test_numbers_of_all_lengths():
    numbers = [0, 1, 9, 10, 99, 100, *(10**k + d for k in range(3, 19) for d in (-1, 0)), 2**63 - 1]
    rows = [naive.Row("", "", s * n, n, max(n, 1), max(n, 1), True, [(n, n, 0)]) for n in numbers for s in (1, -1)]
    assert written(in_columns(rows)) == naive.csv_text(rows)


def test_a_name_that_is_no_unicode():
    with pytest.raises(OutputError, match=r"trace_id '\\ud800' is no valid Unicode"):
        written(in_columns([naive.Row("\ud800", "i", 1, 1, 1, 1, False, [])]))


def test_columns_of_one_length():
    one = np.ones(1, np.int64)
    with pytest.raises(BadParameter, match="one length"):
        FactRows(["a"], ["b"], one, one, one, one, one > 0, np.array([0, 1]), one, np.ones(2, np.int64))
    for half in ({"age_ns": one}, {"ttl_ns": one}):
        with pytest.raises(BadParameter, match="ages and lifetimes, or neither"):
            FactRows(["a"], ["b"], one, one, one, one, one > 0, np.array([0, 1]), one, one, **half)


def test_written_as_the_vectors_say(litehit):
    for vector in litehit("csv"):
        if "record" not in vector:
            continue
        record = dict(vector["record"])
        points = record.pop("byte_points", None)
        pairs = points or record.pop("curve_rle")
        rows = in_columns([naive.Row(**record, in_bytes=points is not None, pairs=[(a, b, 0) for a, b in pairs])])
        line = "line_seed_format" if points is None else "line_current_format"
        assert written(rows).splitlines()[1] == vector["expected"][line]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("facts") / "facts.csv"


def read_back(place: Path, data: bytes) -> list[naive.Row]:
    """The rows of a file, whose pairs have age 0."""
    place.write_bytes(data)
    found = []
    with closing(Opened(place)) as file:
        for rows in read_csv(file):
            assert rows.age_ns is None and rows.ttl_ns is None
            columns = (rows.timestamp_ns, rows.input_token_len, rows.block_size_tokens, rows.block_bytes, rows.in_bytes)
            values = zip(rows.trace_id, rows.instance_id, *(column.tolist() for column in columns), strict=True)
            found += [naive.Row(*row, [(*pair, 0) for pair in rows.fact(i)]) for i, row in enumerate(values)]
    return found


def as_read(rows: list[naive.Row]) -> list[naive.Row]:
    """What a CSV file keeps of rows."""
    return [naive.Row(**{**vars(r), "pairs": [(a, b, 0) for a, b in naive.curve(r, r.ttl)], "ttl": None}) for r in rows]


@settings(max_examples=150, deadline=None)
@given(fact_rows(), st.booleans())
def test_what_was_written_is_read(place, rows, tagged):
    text = naive.csv_text(rows, tagged).encode()
    assert read_back(place, text) == naive.read_csv(text) == as_read(rows)


def spelled(row: naive.Row, random: Random) -> str:
    """A row with quotes, blanks and line ends where readers allow them."""

    def blanks() -> str:
        return random.choice(["", "", " ", "\t", "  ", "\n", "\r\n"])

    numbers = [row.timestamp_ns, row.input_token_len, row.block_size_tokens, row.block_bytes]
    fields = [row.trace_id, row.instance_id, *(random.choice(["", " "]) + str(n) for n in numbers)]
    tag = random.choice(["bytes:", "mamba:"] if row.in_bytes else ["", "rle:"])
    words = [blanks() + f"[{blanks()}{a}{blanks()},{blanks()}{b}{blanks()}]" + blanks() for a, b, _ in row.pairs]
    fields.append(blanks() + tag + blanks() + "[" + blanks() + ",".join(words) + "]" + blanks())
    return ",".join(
        '"' + field.replace('"', '""') + '"' if set(field) & set(',"\r\n') or random.random() < 0.2 else field
        for field in fields
    )


@settings(max_examples=150, deadline=None)
@given(fact_rows(), st.randoms(use_true_random=False))
def test_every_spelling_is_read(place, rows, random):
    rows = as_read(rows)
    text = random.choice(["", "\ufeff"]) + naive.HEADER
    for row in rows:
        text += random.choice(["\n", "\n\n", "\r\n", "\r\n\r\n"]) + spelled(row, random)
    data = (text + random.choice(["", "\n", "\r\n", "\n\n"])).encode()
    assert read_back(place, data) == naive.read_csv(data) == rows
    assert read_back(place, gzip.compress(data)) == rows


@settings(max_examples=400, deadline=None)
@given(fact_rows(most=3), st.randoms(use_true_random=False), st.booleans())
def test_mutated_files_are_read_or_refused_as_the_slow_reader_does(place, rows, random, odd):
    text = "".join("\n" + (spelled(row, random) if odd else naive.csv_text([row])[89:-1]) for row in rows)
    data = naive.HEADER.encode() + b"\n" + mutated(text.encode(), random, random.choice([1, 1, 2, 4]))
    try:
        wanted = naive.read_csv(data)
    except ValueError:
        with pytest.raises(TraceError, match=r"facts\.csv:\d+: "):
            read_back(place, data)
    else:
        assert read_back(place, data) == wanted


def test_pieces_of_the_file_are_the_whole(place, monkeypatch):
    rows = [naive.Row('t",\n' * (k % 3), "i\n" * (k % 2), k, 9, 1, 1, False, []) for k in range(50)]
    for k, row in enumerate(rows):
        row.pairs = [(1 + 2 * i, 1, 0) for i in range(k % 7)]
    text = naive.csv_text(rows)
    for chunk in (1, 16, 40, 100, 1000):
        monkeypatch.setattr(facts_csv_reading, "CHUNK", chunk)
        for data in (text, text.replace('"\n', '"\r\n'), text[:-1], text.replace('"\n', '"\n\n\n')):
            assert read_back(place, data.encode()) == rows
        with pytest.raises(TraceError, match=f"facts.csv:{text.count(chr(10)) + 1}: wanted 7 fields"):
            read_back(place, (text + "a,b\n").encode())


GOOD = 't,i,1,2,3,4,"[[1,2],[4,1]]"\n'
CURVE = "pairs of whole numbers like"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("a,b,c", "wanted 7 fields (trace_id, instance_id, timestamp_ns, input_token_len, block_size_tokens, "
                  "block_bytes, hit_curve), found 3"),
        ("t,i,1,2,3,4,[[1,2]]", "wanted 7 fields (trace_id, instance_id, timestamp_ns, input_token_len, "
                                "block_size_tokens, block_bytes, hit_curve), found 8"),
        ('t,i,x,2,3,4,"[]"', "timestamp_ns: wanted a whole number (int64), found 'x'"),
        ('t,i,1,2.0,3,4,"[]"', "input_token_len: wanted a whole number (int64), found '2.0'"),
        ('t,i,1,2,,4,"[]"', "block_size_tokens: wanted a whole number (int64), found ''"),
        ('t,i,1,2,3,9223372036854775808,"[]"',
         "block_bytes: wanted a whole number (int64), found '9223372036854775808'"),
        ('t,i,1,2,3,99999999999999999999,"[]"',
         "block_bytes: wanted a whole number (int64), found '99999999999999999999'"),
        ('t,i,1,-2,3,4,"[]"', "input_token_len: wanted at least 0, found -2"),
        ('t,i,1,2,0,4,"[]"', "block_size_tokens: wanted at least 1, found 0"),
        ('t,i,1,2,3,0,"[]"', "block_bytes: wanted at least 1, found 0"),
        ('t,i,1,2,3,4,"[[1]]"', f"hit_curve: wanted {CURVE} [[1,2],[4,1]], or bytes:[[4096,1]] (int64), found '[[1]]'"),
        ('t,i,1,2,3,4,"[[1,2]"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,"[[1,2],]"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,"[[1,2][4,1]]"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,"[[1,-2]]"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,"[[1,2]]x"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,"run:[[1,2]]"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,', "hit_curve: wanted "),
        ("t,i,1,2,3,4,[\n]", "hit_curve: wanted "),
        ('t,i,1,2,3,4,"[[1,99999999999999999999]]"', "hit_curve: wanted "),
        ('t,i,1,2,3,4,"[[0,2]]"',
         "hit_curve: wanted segments (start, length) of at least 1 that rise and do not overlap, found [[0, 2]]"),
        ('t,i,1,2,3,4,"[[7,1],[3,0]]"', "hit_curve: wanted segments (start, length) of at least 1"),
        ('t,i,1,2,3,4,"[[1,1],[2,2],[3,1]]"', 
         "hit_curve: wanted segments (start, length) of at least 1 that rise and do not overlap, "
         "found [[2, 2], [3, 1]]"),
        ('t,i,1,2,3,4,"[[9223372036854775807,2]]"', "hit_curve: wanted segments"),
        ('t,i,1,2,3,4,"bytes:[[4,1],[8,1]]"',
         "hit_curve: wanted points whose bytes and hit blocks rise from at least 1, found [[4, 1], [8, 1]]"),
        ('t,i,1,2,3,4,"mamba:[[4,1],[4,2]]"', "hit_curve: wanted points"),
        ('t"x,i,1,2,3,4,"[]"', "a quote within a field: wanted the whole field in quotes, and this one doubled"),
        ('"t"x,i,1,2,3,4,"[]"', "a quote within a field"),
        ('t,i,1,2,3,4,"[]', "a field in quotes does not end before the file does"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(place, row, says):
    before = GOOD * 2 + '"two\nlines",i,1,2,3,4,"[]"\n\n'
    for end in ("", "\n") + (("\n" + GOOD,) if row.count('"') % 2 == 0 else ()):
        with pytest.raises(TraceError) as error:
            read_back(place, (naive.HEADER + "\n" + before + row + end).encode())
        assert str(error.value).startswith(f"{place}:7: {says}"), str(error.value)


def test_what_is_no_facts_file(place):
    for data, says in [
        (b"", ": the file is empty"),
        (b"a,b\n1,2\n", f":1: header: wanted {naive.HEADER}, found 'a,b'"),
        (naive.HEADER.encode() + b",more\n", ":1: header: wanted "),
        (naive.HEADER.encode() + b'\n\xff,i,1,2,3,4,"[]"\n', ":2: trace_id: wanted UTF-8 text, found b'\\xff'"),
    ]:
        with pytest.raises(TraceError) as error:
            read_back(place, data)
        assert str(error.value).startswith(str(place) + says)
    assert read_back(place, naive.HEADER.encode()) == []


def test_read_as_the_vectors_say(litehit, place):
    header = naive.HEADER + "\n"
    for vector in litehit("csv"):
        expected = vector["expected"]
        rows = vector.get("rows", [text for name, text in expected.items() if name.startswith("line")])
        found = read_back(place, (header + "\n".join(rows)).encode())
        wanted = expected.get("parsed") or [
            {"full_rle" if "curve_rle" in vector["record"] else "byte_points":
             vector["record"].get("curve_rle") or vector["record"]["byte_points"]}
        ] * len(rows)  # fmt: skip
        assert [{"byte_points" if r.in_bytes else "full_rle": [[a, b] for a, b, _ in r.pairs]} for r in found] == wanted
        if "record" in vector:
            names = ("trace_id", "instance_id", "timestamp_ns", "input_token_len", "block_size_tokens", "block_bytes")
            assert all(getattr(row, name) == vector["record"][name] for row in found for name in names)
    for vector in litehit("csv_error"):
        for row in vector["rows"]:
            with pytest.raises(TraceError, match=":2: "):
                read_back(place, (header + row + "\n").encode())
