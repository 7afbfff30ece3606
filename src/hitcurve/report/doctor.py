"""The doctor: what a trace seems to be, and what looks wrong with it.

Each check is a function Trace -> Check, listed in ``CHECKS``.  A check that finds something names how many rows and the
first of them (0-based, in replay order).  Nothing here changes the trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from hitcurve._version import __version__
from hitcurve.report.definition import trace_lines
from hitcurve.report.report import Report
from hitcurve.table import Table
from hitcurve.trace import Labels, Trace
from hitcurve.wording import count, counted, seconds, share

EXAMPLES = 5
YEAR = 365.25 * 86400
BUSY, IDLE = 5_000, 1 / 86400  # requests a second beyond which a time unit is doubted
EPOCH = (946_684_800, 4_102_444_800)  # 2000-01-01 and 2100-01-01


@dataclass(frozen=True)
class Check:
    """``ok`` False makes it a finding, ``n`` rows of it, the first in ``rows``; ``advice``: what to try."""

    name: str
    ok: bool
    says: str
    n: int = 0
    rows: tuple[int, ...] = ()
    advice: str = ""


def examine(trace: Trace) -> list[Check]:
    """All checks, in the order of ``CHECKS``.  O(references of doubtful rows + spans + unique blocks log unique)."""
    return [check(trace) for check in CHECKS]


def findings_table(checks: list[Check]) -> Table:
    """One row a check."""
    return Table(
        {
            "check": [c.name for c in checks],
            "result": ["ok" if c.ok else "finding" for c in checks],
            "rows": [c.n if c.n else None for c in checks],
            "says": [c.says for c in checks],
            "first_rows": [" ".join(map(str, c.rows)) for c in checks],
            "advice": [c.advice for c in checks],
        }
    )


def examination(trace: Trace) -> tuple[Report, int]:
    """The report of all checks, and the number of findings."""
    checks = examine(trace)
    findings = [c for c in checks if not c.ok]
    table = findings_table(checks)
    said = [
        c.says + (f" (rows {', '.join(map(str, c.rows))}{' ...' if c.n > len(c.rows) else ''})" if c.rows else "")
        for c in checks
    ]
    report = Report(
        answers=[
            f"{counted(len(findings), 'finding')}: {', '.join(c.name for c in findings)}"
            if findings
            else "nothing found"
        ],
        shown=Table({"check": table["check"], "result": table["result"], "what": said}),
        table=table,
        document={
            "trace": trace.summary(),
            "findings": len(findings),
            "checks": [{**asdict(c), "rows": list(c.rows)} for c in checks],
            "hitcurve": __version__,
        },
        footing=[*(f"{c.name}: {c.advice}" for c in findings if c.advice), *trace_lines(trace)],
        names=3,
    )
    return report, len(findings)


def check_rows(trace: Trace) -> Check:
    dropped = trace.definition.rows_dropped
    if trace.n_requests == 0:
        return Check("rows", False, "no request at all")
    kept = counted(trace.n_requests, "request")
    if dropped:
        part = share(dropped / (dropped + trace.n_requests))
        return Check("rows", False, f"{kept}; {counted(dropped, 'bad row')} left out ({part})", dropped)
    return Check("rows", True, f"{kept}, none left out")


def check_lengths(trace: Trace) -> Check:
    """Requests without a block, or without a token."""
    empty = trace.request_blocks == 0
    if trace.input_tokens is None:
        tokens = "no prompt lengths: ratios are of blocks only"
        if empty.any():
            return _finding("lengths", empty, "without any block; " + tokens)
        return Check("lengths", True, tokens)
    bare = trace.input_tokens == 0
    size = trace.definition.block_size
    long = empty & (trace.input_tokens >= size) if size else empty & ~bare
    if long.any():
        return _finding("lengths", long, "with a prompt of a block or more, but no block id")
    total = f"{count(int(trace.input_tokens.sum()))} input tokens"
    if bare.any():
        return _finding("lengths", bare, f"with a prompt of 0 tokens ({total} in all)")
    return Check("lengths", True, f"{total}, longest prompt {count(int(trace.input_tokens.max(initial=0)))}")


def check_block_size(trace: Trace) -> Check:
    """Do the id counts fit the lengths?  ceil(length / size) and floor(length / size) both do."""
    size = trace.definition.block_size
    if size is None:
        return Check("block size", False, "unknown: nothing can be said in tokens", advice="--block-size N")
    if trace.input_tokens is None:
        return Check("block size", True, f"{count(size)} tokens, not to be verified without prompt lengths")
    full, part = np.divmod(trace.input_tokens, size)
    wrong = (trace.request_blocks < full) | (trace.request_blocks > full + (part > 0))
    if wrong.any():
        return _finding("block size", wrong, f"whose number of ids does not fit their length at {count(size)} tokens")
    return Check("block size", True, f"{count(size)} tokens; every row has the ids its length asks for")


def check_tail_rule(trace: Trace) -> Check:
    """Does a partial last block have an id, in every row alike?"""
    size, tail = trace.definition.block_size, trace.definition.tail
    kept = "" if tail == "keep" else ", left out on reading"
    if size is None or trace.input_tokens is None or tail == "drop":
        return Check("tail rule", True, f"{trace.definition.tail_rule}{kept}")
    full, part = np.divmod(trace.input_tokens, size)
    partial = part > 0
    with_id = partial & (trace.request_blocks == full + 1)
    n, total = int(with_id.sum()), int(partial.sum())
    if 0 < n < total:
        minority = with_id if 2 * n < total else partial & ~with_id
        does = "has" if 2 * n < total else "lacks"
        return _finding("tail rule", minority, f"whose partial last block {does} an id, against the others")
    if total == 0:
        return Check("tail rule", True, "no prompt ends inside a block")
    rule = "ceil: partial last blocks have an id" if n else "floor: partial last blocks have no id"
    return Check("tail rule", True, f"{rule}, all {count(total)} of them")


def check_order(trace: Trace) -> Check:
    """Times that say nothing, and turns that go backward."""
    if trace.definition.time_unit == "none":
        return Check("order", True, "no times in the file: replayed in file order, a TTL cannot be asked for")
    times, late = trace.arrival_ns, trace.definition.rows_sorted
    if late:
        return Check("order", False, f"{counted(late, 'row')} behind a later one", late, advice="read with --sort")
    if len(times) > 1 and times[0] == times[-1]:
        return Check("order", False, "all times are equal: a TTL means nothing", len(times))
    if trace.turn is not None and trace.session is not None:
        rows, before = _previous_in_session(trace)
        back = (trace.turn[rows] < trace.turn[before]) & (trace.turn[rows] >= 0)
        if back.any():
            return _finding("order", rows[back], "with a lower turn than an earlier request of their session")
    ties = int((np.diff(times) == 0).sum()) if len(times) else 0
    return Check("order", True, f"times ascend; {counted(ties, 'request')} at the same time as the one before")


def check_time_unit(trace: Trace) -> Check:
    """Is the load plausible, and, for absolute times, the year?"""
    unit = trace.definition.time_unit
    if unit == "none" or trace.n_requests < 2 or trace.arrival_ns[0] == trace.arrival_ns[-1]:
        return Check("time unit", True, f"{unit}, not to be judged")
    first, span = trace.arrival_ns[0] / 1e9, (trace.arrival_ns[-1] - trace.arrival_ns[0]) / 1e9
    rate = trace.n_requests / span
    text = f"read as {unit}: {seconds(round(span) or span)} in all, {rate:,.3g} requests a second"
    if rate > BUSY or rate < IDLE or span > 10 * YEAR:
        return Check("time unit", False, text, advice="is the unit right? (--time-unit)")
    if abs(first) > 10 * YEAR and not EPOCH[0] < first < EPOCH[1]:
        return Check("time unit", False, text + f", but the first is in the year {1970 + first / YEAR:,.0f}",
                     advice="is the unit right? (--time-unit)")  # fmt: skip
    return Check("time unit", True, text)


def check_ids(trace: Trace) -> Check:
    """Do ids mean what the reader took them for?  An id that names a prefix has one parent."""
    d = trace.definition
    what = f"{count(trace.n_blocks)} unique blocks, kind {d.id_kind}, scope {d.id_scope}"
    if not trace.contract:
        says = f"{what}, taken as they are: some occur under several parents, or twice in one request"
        return Check("ids", False, says, advice="the curve is a lower bound; --identity prefix is exact")
    if trace.raw_ids is None or d.identity == "raw":
        return Check("ids", True, what)
    distinct = _distinct_ids(trace)
    several = trace.n_blocks - distinct
    if several and d.id_kind != "block":
        says = f"{what}, from {count(distinct)} distinct ids: some occur under several parents"
        advice = (
            "do they name single blocks (--id-kind block), or only within a conversation (--id-scope conversation)?"
        )
        return Check("ids", False, says, several, advice=advice)
    if several:
        return Check("ids", True, f"{what}, from {count(distinct)} distinct ids: each is told apart by its whole path")
    return Check("ids", True, f"{what}; every id has one parent")


def check_sharing(trace: Trace) -> Check:
    """A trace in which nothing is used twice is more often misread than real."""
    again = trace.n_block_refs - trace.n_blocks
    if trace.n_requests > 1 and trace.n_block_refs and again == 0:
        return Check(
            "sharing", False, "no block is ever used twice", advice="are the ids per row, per process or salted?"
        )
    part = share(again / trace.n_block_refs) if trace.n_block_refs else share(0)
    return Check("sharing", True, f"{count(trace.n_block_refs)} block references, {part} to blocks seen before")


def check_duplicates(trace: Trace) -> Check:
    """Rows equal to the row before (of the same session, where there are sessions): logged twice?"""
    rows, before = _previous_in_session(trace)
    offsets = trace.span_offsets
    same = (np.diff(offsets)[rows] == np.diff(offsets)[before]) & (trace.request_blocks[rows] > 0)
    same &= trace.request_blocks[rows] == trace.request_blocks[before]
    for column in (trace.input_tokens, trace.output_tokens):
        if column is not None:
            same &= column[rows] == column[before]
    rows, before = rows[same], before[same]
    equal = [
        np.array_equal(trace.span_first[offsets[a] : offsets[a + 1]], trace.span_first[offsets[b] : offsets[b + 1]])
        and np.array_equal(
            trace.span_length[offsets[a] : offsets[a + 1]], trace.span_length[offsets[b] : offsets[b + 1]]
        )
        for a, b in zip(rows, before, strict=True)
    ]
    twice = rows[np.array(equal, bool)]
    if len(twice):
        where = "last one of their session" if trace.session is not None else "one before"
        return _finding("duplicates", twice, f"equal to the {where}: logged twice?")
    return Check("duplicates", True, "no row repeats the one before")


CHECKS: tuple[Callable[[Trace], Check], ...] = (
    check_rows,
    check_lengths,
    check_block_size,
    check_tail_rule,
    check_order,
    check_time_unit,
    check_ids,
    check_sharing,
    check_duplicates,
)


def _finding(name: str, rows: np.ndarray, says: str) -> Check:
    """``rows``: a mask or row numbers."""
    rows = np.flatnonzero(rows) if rows.dtype == bool else np.sort(rows)
    return Check(name, False, f"{counted(len(rows), 'request')} {says}", len(rows), tuple(rows[:EXAMPLES].tolist()))


def _previous_in_session(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers, and for each the row before it in its session (without sessions: the row before it)."""
    codes = trace.session.codes if trace.session is not None else np.zeros(trace.n_requests, np.int32)
    order = np.argsort(codes, kind="stable")
    follows = (codes[order[1:]] == codes[order[:-1]]) & (codes[order[1:]] >= 0)
    return order[1:][follows], order[:-1][follows]


def _distinct_ids(trace: Trace) -> int:
    """Number of distinct raw ids, each counted once in its namespace."""
    assert trace.raw_ids is not None
    columns = [trace.raw_ids.codes]
    local: list[Labels | None] = [trace.tenant, trace.session if trace.definition.id_scope == "conversation" else None]
    if any(labels is not None for labels in local):
        owner = _introducer(trace)
        columns += [labels.codes[owner] for labels in local if labels is not None]
    order = np.lexsort(columns)
    if not len(order):
        return 0
    changes = np.zeros(len(order) - 1, bool)
    for column in columns:
        changes |= np.diff(column[order]) != 0
    return 1 + int(changes.sum())


def _introducer(trace: Trace) -> np.ndarray:
    """int64 (n_blocks,): the request in which each block appears first (blocks are numbered in that order)."""
    last = np.zeros(trace.n_requests, np.int64)
    full = np.flatnonzero(np.diff(trace.span_offsets))
    ends = (
        np.maximum.reduceat(trace.span_first.astype(np.int64) + trace.span_length, trace.span_offsets[full])
        if len(full)
        else last[:0]
    )
    last[full] = ends
    return np.searchsorted(np.maximum.accumulate(last), np.arange(trace.n_blocks), side="right")
