"""The policy that docs/add-a-policy.md walks through does what the page says it does."""

from __future__ import annotations

import re
from pathlib import Path

from hitcurve.simulation import Simulation
from hitcurve.trace import Trace
from tests.naive.simulation import NaiveCache, NaivePolicy
from tests.policies.trees import conversations

PAGE = Path(__file__).parents[2] / "docs" / "add-a-policy.md"


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


def test_the_policy_of_the_page(tmp_path):
    (code,) = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    mine = tmp_path / "mine.py"
    mine.write_text(code)
    requests = conversations(seed=3)
    trace = Trace.of_requests(requests)
    paths = [trace.blocks(r).tolist() for r in range(trace.n_requests)]
    for capacity in (5, 40, 120):
        result = Simulation(trace, str(mine), capacity, verify=True).run().result()
        expected = NaiveCache(Lip(), capacity, paths).run()
        assert result.requests["n_block_hits"].tolist() == expected.hits
        assert result.n_eviction == sum(expected.evictions) > 0
    assert result.settings.policy == "lip"
