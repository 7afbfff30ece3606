"""The policies that docs/add-a-policy.md walks through do what the page says they do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hitcurve.simulation import Simulation
from hitcurve.trace import Trace
from tests.naive.simulation import NaiveCache, NaivePolicy
from tests.policies.trees import conversations, in_context

PAGE = Path(__file__).parents[2] / "docs" / "add-a-policy.md"
LIP, RETURNING = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)


class Lip(NaivePolicy):
    """New blocks at the end of the list, hit ones at its front; the last that is not pinned goes."""

    def __init__(self):
        self.order = []

    def hit(self, block, position, now):
        self.order.remove(block)
        self.order.insert(0, block)

    def insert(self, block, position, now):
        self.order.append(block)

    def evict(self, now):
        victim = next(block for block in reversed(self.order) if not self.cache.pinned(block))
        self.order.remove(victim)
        return victim


class Returning(NaivePolicy):
    """Two lists, newest first: what a session's first request used last, and the rest."""

    def __init__(self):
        self.first, self.later, self.sessions = [], [], []

    def path(self, request):
        session = self.cache.context.session[request]
        self.sessions.append(("alone", request) if session is None else session)

    def insert(self, block, position, now):
        once = self.sessions.count(self.sessions[-1]) == 1
        (self.first if once else self.later).insert(0, block)

    def hit(self, block, position, now):
        (self.first if block in self.first else self.later).remove(block)
        self.insert(block, position, now)

    def evict(self, now):
        victim = next(b for b in [*reversed(self.first), *reversed(self.later)] if not self.cache.pinned(b))
        (self.first if victim in self.first else self.later).remove(victim)
        return victim


@pytest.mark.parametrize(("code", "twin"), [(LIP, Lip), (RETURNING, Returning)])
def test_the_policies_of_the_page(code, twin, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(code)
    trace, context = in_context(conversations(seed=3), 3)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    for capacity in (5, 40, 120):
        result = Simulation(trace, str(mine), capacity, verify=True).run().result()
        expected = NaiveCache(twin(), capacity, paths, context=context).run()
        assert result.requests["n_block_hits"].tolist() == expected.hits
        assert result.n_eviction == sum(expected.evictions) > 0
    assert result.settings.policy == twin.__name__.lower()


def test_without_sessions_the_second_one_is_lru_and_says_so(tmp_path):
    mine = tmp_path / "returning.py"
    mine.write_text(RETURNING)
    trace = Trace.of_requests(conversations(seed=3))
    own, lru = (Simulation(trace, policy, 40).run().result() for policy in (str(mine), "lru"))
    assert own.requests["n_block_hits"].tolist() == lru.requests["n_block_hits"].tolist()
    assert own.notes == ("returning: the trace names no sessions, so none has a second request, and this is LRU",)
