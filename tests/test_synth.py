"""Made-up traces: the same on every machine, shaped like agents' sessions, and the bundled one is one of them."""

from __future__ import annotations

from importlib import resources
from itertools import pairwise

import numpy as np
import pytest

from hitcurve.errors import BadParameter, UnknownName
from hitcurve.synth import DEMO, Workload, demo_trace, synthesize
from hitcurve.trace import Trace
from hitcurve.trace.derived import is_namespaced
from tests.trace.sameness import told


def content(trace: Trace) -> dict[str, object]:
    return {name: value for name, value in told(trace).items() if name != "definition"}


@pytest.fixture(scope="module")
def demo() -> Trace:
    return demo_trace()


@pytest.fixture(scope="module")
def busy() -> Trace:
    return synthesize(sessions=5, seed=5, steps=12, subagent_share=0.3, context_tokens=80_000, result_tokens=4_000)


def test_the_bundled_trace_is_made_by_the_generator(demo: Trace) -> None:
    assert content(demo) == content(synthesize(seed=0))
    assert demo.definition.block_size == Workload().block_size
    assert len((resources.files("hitcurve") / "data" / DEMO).read_bytes()) <= 500_000


def test_a_seed_is_one_trace(busy: Trace) -> None:
    again = Workload(sessions=5, steps=12, subagent_share=0.3, context_tokens=80_000, result_tokens=4_000)
    assert told(synthesize(again, seed=5)) == told(busy)
    assert content(synthesize(again, seed=6)) != content(busy)
    assert busy.definition.sources == (
        "synthesize(seed=5, sessions=5, steps=12, result_tokens=4000, subagent_share=0.3, context_tokens=80000)",
    )


def test_only_full_blocks_have_ids_and_prompts_fit(busy: Trace) -> None:
    assert busy.input_tokens is not None and busy.completion_ns is not None
    assert np.array_equal(busy.request_blocks, busy.input_tokens // 64)
    assert busy.input_tokens.max() <= 80_000
    assert np.all(busy.completion_ns > busy.arrival_ns)


def test_prompts_grow_until_they_are_compacted(busy: Trace) -> None:
    assert busy.session and busy.request_type and busy.input_tokens is not None and busy.completion_ns is not None
    kinds = {"user", "tool", "subagent", "compaction"}
    assert set(busy.request_type.names) == kinds
    for code in range(len(busy.session.names)):
        rows = np.flatnonzero(busy.session.codes == code)
        for before, after in pairwise(rows):
            assert busy.arrival_ns[after] >= busy.completion_ns[before]
            a, b = busy.blocks(before).tolist(), busy.blocks(after).tolist()
            if busy.request_type[before] == "compaction":
                assert len(b) < len(a)
                assert b[:10] == a[:10]
            else:
                assert b[: len(a)] == a


def test_sharing_stays_within_a_tenant(busy: Trace) -> None:
    assert busy.tenant and busy.session and busy.parent_session and not is_namespaced(busy)
    users: dict[int, set[str | None]] = {}
    sessions: dict[int, set[str | None]] = {}
    for r in range(busy.n_requests):
        for block in busy.blocks(r).tolist():
            users.setdefault(block, set()).add(busy.tenant[r])
            sessions.setdefault(block, set()).add(busy.session[r])
    assert {len(of) for of in users.values()} == {1}
    assert sum(len(of) > 1 for of in sessions.values()) > 200  # system prompts and projects
    parents = {busy.parent_session[r] for r in range(busy.n_requests)} - {None}
    assert parents and parents <= set(busy.session.names)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"sessions": 0}, "sessions: wanted a number >= 1, found 0"),
        ({"hours": -1}, "hours: wanted a number >= 0, found -1"),
        ({"subagent_share": 1.5}, "subagent_share: wanted 0 .. 1, found 1.5"),
        ({"context_tokens": 1000}, "context_tokens: wanted >= 80000, for 8 system prompts, found 1000"),
    ],
)
def test_workloads_that_cannot_be(changes: dict[str, float], reason: str) -> None:
    with pytest.raises(BadParameter) as caught:
        synthesize(**changes)
    assert str(caught.value) == reason


def test_unknown_settings_name_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'sessions'"):
        synthesize(session=3)
