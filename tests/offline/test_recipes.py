"""The recipes of docs/facts.md for DuckDB, polars and pandas say what the query says, of facts of all kinds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hitcurve
from hitcurve.offline.capacities import Slot
from hitcurve.offline.facts_parquet import FactsParquet
from tests.offline.random_facts import fact_rows, in_columns

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "facts.md").read_text()


@pytest.fixture(scope="module")
def recipes():
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL):
        if "\ndef with_" in block:
            exec(block, names)
    found = {name: value for name, value in names.items() if name.startswith("with_")}
    assert sorted(found) == ["with_duckdb", "with_pandas", "with_polars"]
    return found


@settings(max_examples=25, deadline=None)
@given(
    facts=st.booleans().flatmap(lambda rising: fact_rows(names=st.text("ab'\u00e9", max_size=3), rising=rising)),
    capacity=st.integers(0, 60),
    ttl_ns=st.integers(1, 9),
)
def test_recipes_say_what_the_query_says(recipes, tmp_path_factory, facts, capacity, ttl_ns):
    path = tmp_path_factory.getbasetemp() / "recipe.parquet"
    with open(path, "wb") as file, FactsParquet(file) as out:
        out.put(in_columns(facts))
    table = hitcurve.query_facts(path, [Slot("x", bytes=capacity)], ttl=ttl_ns / 10**9)
    wanted = [
        (row["instance_id"], row["total_hit_blocks"], row["total_hit_tokens"], row["total_input_tokens"])
        for row in table.rows()
        if row["instance_id"] is not None
    ]
    for name, recipe in recipes.items():
        assert recipe(path, capacity, ttl_ns) == wanted, name
