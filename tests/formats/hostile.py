"""Hostile JSON: a writer with odd spellings of the same value, and mutations of bytes."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import strategies as st

BLANKS = ["", "", "", " ", "\t", "  ", "\r"]
NASTY = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\x00",
    b"0",
    b"-",
    b".",
    b"e",
    b"9",
    b"\xff",
    b" ",
    b"t",
]
FRAGMENTS = [
    b'"hash_ids":[1,2]', b'"hash_ids": 3',
    b"\\u0068", b'{"hash_ids":[7]}', b"null", b"true", b"1e3", b"01", b"-0", b"1.5",
    b"12345678901234567890", b"999999999999999999999999999", b'"\\ud800"', b"NaN", b"Infinity", b"[[", b"]]", b"\r\n",
    b"9223372036854775807", b"-9223372036854775808", b"9223372036854775808", b"1E400", b"},{", b"\xef\xbb\xbf",
]  # fmt: skip

ids = st.one_of(
    st.integers(0, 120),
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, -1, 9, 10, 99, 100, 999_999, 1_000_000, 9_999_999, 2**63 - 1, 2**63, -(2**63), 2**64, 10**18]),
    st.text(max_size=3),
)
runs = st.tuples(st.integers(0, 10**9), st.integers(0, 30)).map(lambda run: list(range(run[0], run[0] + run[1])))
bad_ids = st.sampled_from([True, None, 1.5, 1.0, [], {}, float("nan"), float("inf")])
id_lists = st.one_of(runs, st.lists(ids, max_size=6), st.lists(st.one_of(ids, bad_ids), max_size=4))
values = st.recursive(
    st.one_of(st.none(), st.booleans(), ids, st.floats(), id_lists),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["hash_ids", "a", "requests", 'q"', "\\"]), inner, max_size=3),
    ),
    max_leaves=6,
)
documents = st.dictionaries(
    st.sampled_from(["hash_ids", "timestamp", "x", "hash_id", "hash_idss", 'k"ey', "é", "\ud800"]),
    st.one_of(id_lists, values),
    max_size=4,
)


def spelled(value: Any, random: Random) -> str:
    """``value`` as JSON, with blanks, escapes and repeated keys where JSON allows them."""

    def blank() -> str:
        return random.choice(BLANKS)

    def text(string: str) -> str:
        if random.random() < 0.15:
            return '"' + "".join(f"\\u{unit:04x}" for unit in _units(string)) + '"'
        return json.dumps(string, ensure_ascii=random.random() < 0.5 or any("\ud800" <= c <= "\udfff" for c in string))

    if isinstance(value, dict):
        pairs = list(value.items())
        if pairs and random.random() < 0.1:
            pairs.insert(0, (pairs[-1][0], random.choice([[1, 2, 3], 5, "x", {"hash_ids": [1]}])))
        inside = ",".join(f"{blank()}{text(k)}{blank()}:{blank()}{spelled(v, random)}{blank()}" for k, v in pairs)
        return "{" + (inside or blank()) + "}"
    if isinstance(value, list):
        separator = random.choice([",", ", ", " , "])
        return "[" + blank() + separator.join(spelled(v, random) for v in value) + blank() + "]"
    return text(value) if isinstance(value, str) else json.dumps(value)


def _units(string: str) -> list[int]:
    packed = string.encode("utf-16-le", "surrogatepass")
    return [packed[i] | packed[i + 1] << 8 for i in range(0, len(packed), 2)]


def mutated(data: bytes, random: Random, times: int) -> bytes:
    """``data`` with bytes cut out, repeated, replaced, and fragments put in."""
    for _ in range(times):
        at = random.randrange(len(data) + 1)
        what = random.randrange(5)
        if what == 0:
            data = data[:at] + data[at + random.randrange(1, 8) :]
        elif what == 1:
            data = data[:at] + random.choice(NASTY) + data[at:]
        elif what == 2:
            data = data[:at] + random.choice(FRAGMENTS) + data[at:]
        elif what == 3:
            data = data[:at] + random.choice(NASTY) + data[at + 1 :]
        else:
            stretch = data[at : at + random.randrange(1, 40)]
            data = data[:at] + stretch + data[at:]
    return data
