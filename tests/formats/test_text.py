"""Conversations as text: times, prompts, tokens, blocks."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter, HitcurveError, TraceError
from hitcurve.formats import read_trace, write_trace
from hitcurve.formats.text import nanoseconds
from tests.formats.tokenizer import BOS, save_tokenizer, tiny_tokenizer, tokens_of
from tests.naive import formats as naive
from tests.naive.prefix_hash import prefix_hash

ROW: dict[str, Any] = {"time": "2024-07-03 09:46:40.123456", "prompt_messages": "a b c d e"}


def put(folder: Path, *rows: dict[str, Any] | str) -> Path:
    (folder / "t.jsonl").write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return folder / "t.jsonl"


def chat(*messages: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": m} if isinstance(m, str) else m for m in messages]}


def read(path: Path, size: int = 2, **options: Any) -> Any:
    return read_trace(path, format="text", block_size=size, **{"tokenizer": tiny_tokenizer(), **options})


TIMES = {
    "2024-07-03 09:46:40.123456": 1_720_000_000_123_456_000,
    "2024-07-03 09:46:40,123456": 1_720_000_000_123_456_000,
    "2024-07-03T09:46:40.000000001": 1_720_000_000_000_000_001,
    "2024-07-03 09:46:40": 1_720_000_000_000_000_000,
    "2024-07-03 09:46:40.5Z": 1_720_000_000_500_000_000,
    "2024-07-03 17:46:40.5+08:00": 1_720_000_000_500_000_000,
    "1970-01-01 00:00:00": 0,
    "1969-12-31 23:59:59": None,
    "2262-04-12 00:00:00": None,
    "2024-02-30 00:00:00": None,
    "2024-07-03 24:00:01": None,
    "2024-07-03": None,
    "2024-07-03 09:46:40.": None,
    "2024-07-03 09:46:40.1234567890": None,
    " 2024-07-03 09:46:40": None,
    "2024-07-03 09:46:40\n": None,
    "２０２４-07-03 09:46:40": None,  # noqa: RUF001
    "": None,
}


@pytest.mark.parametrize("text", TIMES)
def test_times(text):
    assert nanoseconds(text) == TIMES[text]


@given(st.datetimes(datetime(1970, 1, 1), datetime(2261, 12, 31)), st.sampled_from(".,"))
def test_times_are_exact(moment, point):
    expected = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1) * 1000
    assert nanoseconds(moment.strftime(f"%Y-%m-%d %H:%M:%S{point}%f").rjust(26, "0")) == expected
    assert nanoseconds(moment.replace(tzinfo=UTC).isoformat()) == expected
    assert nanoseconds(None) is None and nanoseconds(5) is None


words = st.lists(st.sampled_from("abcdxy"), max_size=12).map(" ".join)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    prompts=st.lists(st.one_of(words, st.lists(words, min_size=1, max_size=3)), min_size=1, max_size=6),
    size=st.integers(1, 4),
)
def test_blocks_are_blocks_of_tokens(tmp_path, prompts, size):
    rows, expected = [], []
    for k, prompt in enumerate(prompts):
        rows.append(
            {"time": f"2024-07-03 09:46:{k:02}", "prompt_messages": prompt if type(prompt) is str else chat(*prompt)}
        )
        text = prompt if type(prompt) is str else " ".join(f"user: {words}" for words in prompt)
        tokens = [BOS, *tokens_of(text)]
        expected.append([tuple(tokens[at : at + size]) for at in range(0, len(tokens) - size + 1, size)])
        rows[-1]["length"] = len(tokens)
    trace = read(put(tmp_path, *rows), size)
    assert trace.input_tokens.tolist() == [row["length"] for row in rows]
    dense = naive.intern([(None, blocks) for blocks in expected])
    assert [trace.blocks(i).tolist() for i in range(len(trace))] == dense
    d = trace.definition
    assert (d.format, d.block_size, d.id_kind, d.tail_rule, d.time_unit) == ("text", size, "block", "floor", "ns")
    if trace.n_blocks:
        assert trace.raw_ids[0] == np.array(expected[[bool(b) for b in expected].index(True)][0], "<u4").tobytes()


def test_a_trace_of_text(tmp_path):
    path = put(tmp_path, ROW, {**ROW, "prompt_messages": chat("a b", {"role": "system", "content": None})})
    trace = read(path)
    assert trace.arrival_ns.tolist() == [1_720_000_000_123_456_000] * 2
    assert trace.input_tokens.tolist() == [6, 5]  # [BOS] user: a b system:
    assert (
        trace.definition.notes[0].startswith("tokenized with ")
        and "lines of role: content" in trace.definition.notes[0]
    )
    assert read_trace(path, tokenizer=tiny_tokenizer()).definition.block_size == 16
    assert read_trace(path, tokenizer=Path(tiny_tokenizer()).parent).definition.format == "text"
    listed = read(put(tmp_path, {**ROW, "prompt_messages": chat("a b")["messages"]}))
    parts = [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]
    in_parts = read(put(tmp_path, {**ROW, "prompt_messages": chat({"role": "user", "content": parts})}))
    assert listed.raw_ids[0] == in_parts.raw_ids[0] and listed.input_tokens.tolist() == [4]


def test_other_names(tmp_path):
    path = put(tmp_path, {"when": ROW["time"], "what": "a b c"})
    trace = read(path, time_field="when", content_field="what")
    assert trace.input_tokens.tolist() == [4]
    with pytest.raises(TraceError, match=":1: time: wanted a time like"):
        read(path)


def test_written_as_tair_rows(tmp_path):
    trace = read(put(tmp_path, ROW, {**ROW, "prompt_messages": "a b c x x"}), tail="drop")
    write_trace(trace, tmp_path / "rows.jsonl", format="tair")
    rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
    first, second = (row["keys"] for row in rows)
    assert first[:2] == second[:2] and first[2] != second[2] and [row["input_len"] for row in rows] == [6, 6]
    contents = [int.from_bytes(_digest(raw), "little", signed=True) for raw in (trace.raw_ids[k] for k in range(3))]
    assert first == prefix_hash(contents)


def _digest(raw: Any) -> bytes:
    from hashlib import blake2b

    return blake2b(raw, digest_size=8).digest()


TEMPLATE = """{{ bos_token }}
{% for message in messages %}
 {{ message['role'] }} : {{ message['content'] }}
{% endfor %}
{% if add_generation_prompt %} system :{% endif %}
"""


def test_templates(tmp_path):
    save_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"bos_token": {"content": "[BOS]"}, "eos_token": None}))
    (tmp_path / "chat.jinja").write_text(TEMPLATE)
    path = put(tmp_path, {**ROW, "prompt_messages": chat("a b")})
    trace = read(path, 1, tokenizer=tmp_path, template=tmp_path / "chat.jinja")
    ids = [int.from_bytes(trace.raw_ids[block], "little") for block in trace.blocks(0).tolist()]
    assert ids == [BOS, *tokens_of("user : a b system :")]
    assert "chat template" in trace.definition.notes[0]
    (tmp_path / "no.jinja").write_text("{{ raise_exception('no\nusers here') }}")
    with pytest.raises(TraceError, match=r":1: prompt_messages: the chat template .* messages: no users here"):
        read(path, template=tmp_path / "no.jinja")
    (tmp_path / "no.jinja").write_text("{{ messages[7].content.x }}")
    with pytest.raises(TraceError, match="the chat template does not take these messages"):
        read(path, template=tmp_path / "no.jinja")
    (tmp_path / "no.jinja").write_text("{% for %}")
    for template in (tmp_path / "no.jinja", tmp_path / "absent.jinja"):
        with pytest.raises(BadParameter, match="template: "):
            read(path, template=template)


BAD = {
    "no time": ({"time": ...}, "time: wanted a time like 2024-07-03 09:46:40.123456"),
    "a number": ({"time": 1720000000}, "found 1720000000"),
    "no prompt": ({"prompt_messages": ...}, "prompt_messages: wanted a string or a list of messages, found NoneType"),
    "a number for a prompt": ({"prompt_messages": 5}, "found int"),
    "no messages": ({"prompt_messages": {"secret": "secret"}}, "found dict"),
    "no role": ({"prompt_messages": [{"content": "secret"}]}, "wanted messages with a role and a content"),
    "a picture": ({"prompt_messages": chat({"role": "user", "content": [{"image": "secret"}]})}, "a part that is none"),
    "content a number": ({"prompt_messages": chat({"role": "user", "content": 7})}, "found int"),
    "half a pair": ({"prompt_messages": "secret \ud800"}, "half of a surrogate pair"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_rows(name, tmp_path):
    fields, part = BAD[name]
    path = put(tmp_path, ROW, {k: v for k, v in {**ROW, **fields}.items() if v is not ...})
    with pytest.raises(TraceError) as caught:
        read(path)
    assert part in str(caught.value) and str(caught.value).startswith(f"{path}:2: ")
    assert "secret" not in str(caught.value)  # nothing of a prompt is shown
    kept = read(path, skip_bad=True)
    assert (kept.n_requests, kept.definition.rows_dropped) == (1, 1)


def test_what_is_missing(tmp_path, monkeypatch):
    path = put(tmp_path, ROW)
    with pytest.raises(BadParameter, match="format text needs a tokenizer"):
        read_trace(path)
    with pytest.raises(BadParameter, match="written out"):
        read(path, time_unit="s")
    (tmp_path / "tokenizer.json").write_text("{}")
    for tokenizer in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(BadParameter, match="tokenizer: "):
            read(path, tokenizer=tokenizer)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(HitcurveError, match=r"pip install 'hitcurve\[text\]'"):
        read(path)
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(HitcurveError, match="jinja2"):
        read(path, template=path)
