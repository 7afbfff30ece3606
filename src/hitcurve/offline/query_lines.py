"""The answers of a query as JSON lines, field for field as LiteHit's: requests, then summaries.

    {"trace_id":"a","instance_id":"i","timestamp_ns":7,"input_token_len":13,"hit_blocks":[2],"hit_rates":[0.6153...]}
    {"summary":true,"instance_id":"i","requests":1,"total_input_tokens":13,"capacity_gb":[0.5],"total_hit_blocks":[2],
     "total_hit_tokens":[8],"hit_rates":[0.6153846153846154]}
    {"summary":true, ... the same of all instances, without instance_id}

Numbers stand in full: the shortest text that reads back as the same double.  ``six_digits`` rounds them to six
significant digits, as C++ streams do by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from hitcurve.offline.query import Answer, Query

PIECE = 1 << 10  # rows of one piece of text


def query_lines(query: Query, requests: bool = True, six_digits: bool = False) -> Iterator[bytes]:
    """The text, in pieces; without the lines of ``requests`` summaries only."""
    for answer in query.answers():
        if requests:
            yield from _request_lines(answer, six_digits)
    for summary in query.summaries():
        line: dict[str, Any] = {"summary": True}
        if summary.instance_id is not None:
            line["instance_id"] = summary.instance_id
        line["requests"] = summary.requests
        line["total_input_tokens"] = _whole(summary.total_input_tokens)
        line[query.capacities.field] = _numbers(query.capacities.names, six_digits)
        line["total_hit_blocks"] = _whole(summary.total_hit_blocks)
        line["total_hit_tokens"] = _whole(summary.total_hit_tokens)
        line["hit_rates"] = _numbers(summary.hit_rates, six_digits)
        yield orjson.dumps(line) + b"\n"


def _request_lines(answer: Answer, six_digits: bool) -> Iterator[bytes]:
    rows = answer.rows
    for begin in range(0, len(rows), PIECE):
        own = slice(begin, begin + PIECE)
        columns: tuple[Iterable[Any], ...] = (
            rows.trace_id[own],
            rows.instance_id[own],
            rows.timestamp_ns[own].tolist(),
            rows.input_token_len[own].tolist(),
            answer.hit_blocks[own].tolist(),
            answer.hit_rates[own].tolist(),
        )
        yield b"".join(
            orjson.dumps(
                {
                    "trace_id": trace_id,
                    "instance_id": instance_id,
                    "timestamp_ns": when,
                    "input_token_len": length,
                    "hit_blocks": blocks,
                    "hit_rates": _numbers(rates, six_digits),
                },
                option=orjson.OPT_APPEND_NEWLINE,
            )
            for trace_id, instance_id, when, length, blocks, rates in zip(*columns, strict=True)
        )


def _numbers(values: Sequence[str | float], six_digits: bool) -> Any:
    if not six_digits:
        return values
    return orjson.Fragment("[" + ",".join(_six(value) for value in values) + "]")


def _six(value: str | float) -> str:
    return orjson.dumps(value).decode() if isinstance(value, str) else f"{value:.6g}"


def _whole(value: int | list[int]) -> Any:
    """Whole numbers of any size."""
    return orjson.Fragment(str(value).replace(" ", ""))
