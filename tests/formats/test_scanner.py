"""The scanner and the full parser give what ``json.loads`` gives, line by line, on any bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hitcurve.formats.batches import BadDocument, Batches, NotIds
from hitcurve.trace.interning import Interner
from tests.formats import hostile
from tests.naive import formats as naive


class Text:
    """Bytes that are read in pieces."""

    def __init__(self, data: bytes, piece: int = 1 << 20) -> None:
        self.data, self.piece = data, piece

    def readinto(self, room: memoryview) -> int:
        n = min(len(room), len(self.data), self.piece)
        room[:n], self.data = self.data[:n], self.data[n:]
        return n

    def peek(self, wanted: int) -> bytes:
        return self.data


def decoded(value: Any, arrays: list[Any], nested: bool, top: bool = True) -> Any:
    """A row with its arrays put back: the id lists, or ``bad`` where there is no list of ids."""
    if isinstance(value, dict):
        out = {}
        for key, inner in value.items():
            if key == "hash_ids" and (top or nested):
                out[key] = "bad" if isinstance(inner, NotIds) else arrays[inner]
            else:
                out[key] = decoded(inner, arrays, nested, False)
        return out
    if isinstance(value, list):
        return [decoded(inner, arrays, nested, False) for inner in value]
    return value


def scanned(data: bytes, nested: bool, chunk: int, piece: int = 1 << 20, words: bool = False) -> list[tuple[int, str]]:
    interner = Interner()
    found = []
    for batch in Batches(Text(data, piece), 0, "hash_ids", nested, interner.encode, words, chunk):
        others = {code: raw for raw, code in interner._codes.items()}
        arrays = [[others.get(code, code) for code in batch.array(k).tolist()] for k in range(len(batch.ends) - 1)]
        for line, row in zip(batch.lines, batch.rows, strict=True):
            row = "no json" if isinstance(row, BadDocument) else row
            found.append((line, repr(decoded(row, arrays, nested) if isinstance(row, dict) else row)))
    return found


def expected(data: bytes, nested: bool, words: bool = False) -> list[tuple[int, str]]:
    def marked_ids(value: Any) -> Any:
        if not words:
            return value if naive.plain_ids(value) else "bad"
        fits = type(value) is list and all(type(raw) is int and -(2**63) <= raw < 2**64 for raw in value)
        return [(raw + 2**63) % 2**64 - 2**63 for raw in value] if fits else "bad"

    def marked(value: Any, top: bool = True) -> Any:
        if isinstance(value, dict):
            return {
                k: marked_ids(v) if k == "hash_ids" and (top or nested) else marked(v, False) for k, v in value.items()
            }
        if isinstance(value, list):
            return [marked(v, False) for v in value]
        return value

    return [
        (line, repr("no json" if value is naive.Bad else marked(value) if isinstance(value, dict) else value))
        for line, value in naive.documents(data)
    ]


@settings(max_examples=600, deadline=None)
@given(
    documents=st.lists(hostile.documents, max_size=5),
    seed=st.integers(0, 2**32),
    mutations=st.sampled_from([0, 0, 1, 2, 5]),
    nested=st.booleans(),
    chunk=st.sampled_from([16, 64, 1000]),
    ending=st.sampled_from([b"", b"\n", b"\r\n", b"\n\n  \n"]),
    words=st.booleans(),
)
def test_any_lines(documents, seed, mutations, nested, chunk, ending, words):
    random = Random(seed)
    data = "\n".join(hostile.spelled(document, random) for document in documents).encode() + ending
    data = hostile.mutated(data, random, mutations)
    assert scanned(data, nested, chunk, words=words) == expected(data, nested, words)


LINES = {
    "plain": b'{"timestamp": 1, "hash_ids": [1, 2, 3]}\n',
    "no final newline": b'{"hash_ids": [1]}\n{"hash_ids": [2]}',
    "byte order mark": b'\xef\xbb\xbf{"hash_ids":[1,2]}\n',
    "carriage returns": b'{"hash_ids":[1,2]}\r\n{"hash_ids":[3]}\r\n\r\n',
    "blank lines and blanks": b'\n  \n{"hash_ids":[1,2]}   \t\n\n\n  {"hash_ids":[3]}\n \t\r\n',
    "escaped key": b'{"hash\\u005fids":[1,2],"a":1}\n',
    "escaped and plain key": b'{"hash_ids":[1],"hash\\u005fids":[2]}\n{"hash\\u005fids":[2],"hash_ids":[1]}\n',
    "escaped key, a number": b'{"hash\\u005fids":0}\n{"hash_ids":0}\n',
    "another escaped key": b'{"h\\u0061sh":[1,2],"hash_ids":[3]}\n{"a\\"":[1],"hash_ids":[3]}\n',
    "key twice": b'{"hash_ids":[1,2],"hash_ids":[3]}\n{"hash_ids":[3],"hash_ids":null}\n',
    "key inside": b'{"a":{"hash_ids":[1,2]},"hash_ids":[3],"b":[{"hash_ids":[4]}]}\n',
    "key as value": b'{"a":"hash_ids","hash_ids":[1]}\n{"a":["hash_ids",[1]]}\n',
    "quoted text": b'{"a":"\\"hash_ids\\":[1]","hash_ids":[5]}\n',
    "floats": b'{"hash_ids":[1.0]}\n{"hash_ids":[1e3]}\n{"hash_ids":[1,2E1]}\n{"hash_ids":[0.5]}\n',
    "numbers that are none": b'{"hash_ids":[01]}\n{"hash_ids":[+1]}\n{"hash_ids":[-]}\n'
    b'{"hash_ids":[1,]}\n{"hash_ids":[,1]}\n',
    "predicted digits": b'{"hash_ids":[128,129,12:,131]}\n{"hash_ids":[8,9,:,11]}\n{"hash_ids":[18,19,110]}\n',
    "carries": b'{"hash_ids":[8,9,10,11,98,99,100,101,999998,999999,1000000,1000001]}\n',
    "zero": b'{"hash_ids":[0,1,2]}\n{"hash_ids":[-0,0,00]}\n{"hash_ids":[-0]}\n',
    "digits after an array": b'{"hash_ids":[7]}\n{"hash_ids":[5]0}\n' + b'{"hash_ids":[8]}\n' * 12,
    "a fraction after an array": b'{"hash_ids":[5].5}\n{"hash_ids":[5]e1}\n{"hash_ids":[5]-1}\n',
    "edges": b'{"hash_ids":[9223372036854775807,9223372036854775808,-9223372036854775808,-9223372036854775809]}\n',
    "beyond 64 bits": b'{"hash_ids":[18446744073709551615,18446744073709551616,1,4294967297]}\n',
    "wraps around": b'{"hash_ids":[18446744073709551617]}\n'
    b'{"hash_ids":[184467440737095516170]}\n{"hash_ids":[1,-18446744073709551617]}\n',
    "codes' window": b'{"hash_ids":[-9223370937343148033,-9223370937343148032,-9223372036854775807]}\n',
    "words": b'{"hash_ids":[9223372036854775808,9223373136366403583,9223373136366403584,10000000000000000000]}\n'
    b'{"hash_ids":[18446744073709551615,-1,18446744073709551614]}\n{"hash_ids":[28446744073709551615]}\n',
    "strings": b'{"hash_ids":["1",1,"0x1f","\\u0031","a\\"b",""]}\n',
    "other types": b'{"hash_ids":[true]}\n{"hash_ids":[null]}\n{"hash_ids":[[1]]}\n'
    b'{"hash_ids":[{}]}\n{"hash_ids":{}}\n{"hash_ids":"1"}\n',
    "lone surrogate": b'{"s":"\\ud800","hash_ids":[1]}\n{"hash_ids":["\\udc00"]}\n',
    "broken text": b'{"s":"\xff","hash_ids":[1]}\n{"s":"\xed\xa0\x80","hash_ids":[1]}\n',
    "zero bytes": b'{"hash_ids":[1]}\x00\n{"hash_ids":[\x001]}\n\x00\x00\n{"a":"\x00"}\n',
    "control in a string": b'{"a":"x\ty","hash_ids":[1]}\n{"a":"x\n y","hash_ids":[1]}\n',
    "two in a line": b'{"hash_ids":[1]},{"hash_ids":[2]}\n{"hash_ids":[3]} {"hash_ids":[4]}\n{"hash_ids":[1]}]\n',
    "split over lines": b'{"hash_ids":[1,\n2]}\n{"a":[1\n2]}\n{"a":1},{"x":[\n]}\n',
    "no objects": b'[{"hash_ids":[1]}]\n1\n"hash_ids"\nnull\n"hash_ids":[1]\n',
    "unbalanced": b'{"hash_ids":[1]\n{"hash_ids":[1]]}\n{"a":[1},"hash_ids":[1]]\n}{\n',
    "not a number": b'{"t":NaN,"hash_ids":[1]}\n{"t":-Infinity,"hash_ids":[1]}\n{"t":1E400,"hash_ids":[1]}\n',
    "long numbers": b'{"t":123456789012345678901234567890,"hash_ids":[1]}\n'
    b'{"t":0.12345678901234567890123,"hash_ids":[1]}\n',
    "nineteen digits": b'{"t":1720000000000000000,"hash_ids":[1]}\n{"t":-8999999999999999999,"hash_ids":[1]}\n'
    b'{"t":9223372036854775807,"hash_ids":[1]}\n{"t":9223372036854775808,"hash_ids":[1]}\n'
    b'{"t":-9223372036854775808,"hash_ids":[1]}\n{"t":-9999999999999999999,"hash_ids":[1]}\n'
    b'{"t":0.1234567890123456789,"hash_ids":[1]}\n{"t":1.234567890123456789e-7,"hash_ids":[1]}\n'
    b'{"t":8999999999999999999.5,"hash_ids":[1]}\n{"t":0000000000000000001,"hash_ids":[1]}\n',
    "very long number": b'{"t":' + b"1" * 5000 + b',"hash_ids":[1]}\n{"hash_ids":[' + b"1" * 5000 + b"]}\n",
    "very deep": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b',"hash_ids":[1]}\n{"hash_ids":[2]}\n',
    "fairly deep": b'{"a":' + b"[" * 100 + b"]" * 100 + b',"hash_ids":[1]}\n',
    "empty key": b'{"":[1],"hash_ids":[]}\n{"hash_ids":[ ]}\n{"hash_ids" : [ 1 , 2 ] }\n',
}  # fmt: skip


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("chunk", [16, 1 << 20])
@pytest.mark.parametrize("name", LINES)
def test_hostile_lines(name, chunk, nested, words):
    assert scanned(LINES[name], nested, chunk, words=words) == expected(LINES[name], nested, words)


def test_a_line_of_ten_megabytes():
    data = b'{"hash_ids":[' + b",".join(b"%d" % n for n in range(1_500_000)) + b'],"a":"' + b"x" * 1000 + b'"}\n{"a":1}'
    assert len(data) > 10_000_000
    assert scanned(data, False, 1 << 16) == expected(data, False)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 60), max_size=4), st.sampled_from([1, 3, 17]), st.sampled_from([16, 40]))
@example([0], 1, 16)
def test_lines_split_anywhere(starts, piece, chunk):
    data = b"".join(b'{"hash_ids":[%s]}\n' % b", ".join(b"%d" % (s + k) for k in range(s)) for s in starts)
    assert scanned(data, False, chunk, piece) == expected(data, False)
