"""The cache that reaches a share of what an infinite cache hits, against trying every capacity."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitcurve.errors import BadParameter
from hitcurve.lru import lru_facts
from hitcurve.lru.ceiling import SHARES, capacities_of_ceiling
from hitcurve.trace import Labels, Trace
from tests.lru.traces import any_requests, tree_requests, with_times


@settings(max_examples=150)
@given(
    drawn=st.one_of(with_times(tree_requests()), with_times(any_requests())),
    identity=st.sampled_from(["prefix", "raw"]),
    ttls=st.lists(st.one_of(st.none(), st.integers(1, 8)), min_size=1, max_size=2),
    shares=st.lists(st.fractions(0, 1, max_denominator=30), min_size=1, max_size=3),
    by=st.sampled_from([None, "session", ("window", 3)]),
    data=st.data(),
)
def test_every_capacity_was_tried(drawn, identity, ttls, shares, by, data):
    requests, times = drawn
    n = len(requests)
    names = data.draw(st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n))
    session = Labels.of(names)
    if by == "session" and session is None:
        by = None
    facts = lru_facts(Trace.of_requests(requests, times=times, identity=identity, session=session))
    found = list(capacities_of_ceiling(facts, shares, ttls, block_bytes=10, by=by).rows())
    if by is None:
        of = {None: list(range(n))}
    elif by == "session":
        of = {name: [k for k in range(n) if names[k] == name] for name in dict.fromkeys(names)}
    else:
        starts = range(0, times[-1] - times[0] + 1, 3) if n else []
        of = {start: [k for k in range(n) if start <= times[k] - times[0] < start + 3] for start in starts}
    most = sum(map(len, requests)) + 1
    expected = []
    for ttl in ttls:
        for group, rows in of.items():
            hits = [int(facts.hits_per_request(c, ttl)[rows].sum()) for c in range(most + 1)]
            for share in shares:
                needs = next(c for c in range(most + 1) if hits[c] >= share * hits[most])
                row = {"requests": len(rows), "ttl_seconds": ttl, "ceiling_hit_blocks": hits[most]}
                row |= {"share_of_ceiling": float(share), "capacity_blocks": needs, "capacity_bytes": 10 * needs}
                expected.append(row if by is None else {next(iter(found[0])): group, **row})
    assert found == expected


def test_usual_shares_are_those_of_litehit():
    assert [int(share * 10_000) for share in SHARES] == [6000, 8000, 9000, 9500, 9900, 9950]
    with pytest.raises(BadParameter, match=r"wanted 0 \.\. 1, found 1.5"):
        capacities_of_ceiling(lru_facts(Trace.of_requests(["ab"])), [Fraction(3, 2)])
