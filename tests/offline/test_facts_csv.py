"""litehit_facts.csv: written byte for byte, read to the last digit, refused with a reason."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, OutputError
from hitcurve.offline import facts_csv
from hitcurve.offline.cutting import cut
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.facts_csv import FactsCsv
from tests.naive import facts as naive
from tests.offline.random_facts import fact_rows, in_columns


def written(rows: FactRows, tagged: bool = False) -> str:
    file = io.BytesIO()
    FactsCsv(file, tagged).put(rows)
    return file.getvalue().decode()


@settings(max_examples=150, deadline=None)
@given(fact_rows(), st.booleans())
def test_what_is_written_is_what_the_reference_says(rows, tagged):
    assert written(in_columns(rows), tagged) == naive.csv_text(rows, tagged)


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


def of_kind(vectors, kind):
    found = [v for v in vectors("litehit") if v["kind"] == kind]
    assert found
    return found


def test_written_as_the_vectors_say(vectors):
    for vector in of_kind(vectors, "csv"):
        if "record" not in vector:
            continue
        record = dict(vector["record"])
        points = record.pop("byte_points", None)
        pairs = points or record.pop("curve_rle")
        rows = in_columns([naive.Row(**record, in_bytes=points is not None, pairs=[(a, b, 0) for a, b in pairs])])
        expected = vector["expected"]
        assert written(rows, True).splitlines()[1] == expected["line_current_format"]
        if points is None:
            assert written(rows).splitlines()[1] == expected["line_seed_format"]
