"""Reuse intervals: how long blocks lay untouched before a request touched them again.

One sample for each distinct block of a request that was touched before, wherever in the request it stands: the time
since its last touch.  No capacity plays a part; with a time to live, blocks that have expired give no sample.

In a tree the facts of an LRU replay hold all samples, run by run: who holds a block holds its whole path, so behind the
first block never seen before there is none that was.  Elsewhere it takes the time of each block's last touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import entry
from hitcurve.lru.facts import Facts
from hitcurve.lru.interval_window import IntervalStatistics, IntervalWindow
from hitcurve.projection import INFINITE
from hitcurve.trace import Trace
from hitcurve.trace.interning import Interner, grown


class Samples(NamedTuple):
    """In order of the requests: ages, and how many blocks in a row have each; both int64 (n,)."""

    age_ns: np.ndarray
    blocks: np.ndarray


def interval_samples(trace: Trace, facts: Facts | None = None, ttl_ns: int | None = None) -> Samples:
    """All samples of ``trace``.  ``facts`` of the same trace save the work: O(segments) in a tree, else O(references).

    >>> interval_samples(Trace.of_requests(["abc", "abd", "abc"]))
    Samples(age_ns=array([1000000000, 1000000000, 2000000000]), blocks=array([2, 2, 1]))
    """
    if trace.contract:
        if facts is None:
            from hitcurve.lru.replay import lru_facts

            facts = lru_facts(trace)
        samples = Samples(facts.age_ns, facts.length)
    else:
        touches = _new_touches(trace.n_blocks)
        samples = _sampled(touches, trace.arrival_ns, trace.span_offsets, trace.span_first, trace.span_length)
    return samples if ttl_ns is None else Samples(*(column[samples.age_ns < ttl_ns] for column in samples))


class ReuseIntervals:
    """Samples of requests as they come, in a window that can be taken.  State: O(unique blocks), 16 bytes and the ids.

    ``identity``: as of traces; ``ttl_ns``: how long a block lives untouched (None: for ever).

    >>> intervals = ReuseIntervals()
    >>> for now_ns, keys in [(100, [1, 2, 3]), (103, [1, 2, 4, 2]), (140, [1, 3]), (120, [1])]:
    ...     intervals.process(keys, now_ns)
    >>> taken = intervals.take()
    >>> taken.count, taken.least_ns, taken.mean_ns, taken.most_ns
    (5, 0, 16.6, 40)
    """

    def __init__(self, identity: str = "raw", ttl_ns: int | None = None) -> None:
        self._interner = Interner(identity)
        self._ttl_ns = INFINITE if ttl_ns is None else ttl_ns
        self._touches = _new_touches(0)
        self._window = IntervalWindow()
        self._now_ns = -(2**63)

    def process(self, keys: Sequence[Any], now_ns: int, namespace: Any = None) -> None:
        """One request: raw ids of any kind.  A time before the last one is taken as the last one."""
        numbers = np.array([self._interner.namespace(namespace)], np.int64)
        offsets, first, length = self._interner.add_lists([keys], numbers)
        self._now_ns = max(self._now_ns, now_ns)
        if self._interner.n_blocks > len(self._touches.at_ns):
            n, *columns = self._touches
            self._touches = Touches(n, *(grown(column, 2 * self._interner.n_blocks) for column in columns))
        samples = _sampled(self._touches, np.array([self._now_ns], np.int64), offsets, first, length)
        alive = samples.age_ns < self._ttl_ns
        self._window.add(samples.age_ns[alive], samples.blocks[alive])

    def take(self) -> IntervalStatistics:
        """What was sampled since the last time; then the window is empty, and last touches are kept."""
        return self._window.take()


class Touches(NamedTuple):
    """The last touch of each block: ``n[0]`` requests so far."""

    n: np.ndarray  # int64 (1,)
    at_ns: np.ndarray  # int64 (blocks,)
    by: np.ndarray  # int64 (blocks,): number of the request, from 1; 0: never touched


def _new_touches(blocks: int) -> Touches:
    return Touches(np.zeros(1, np.int64), np.empty(blocks, np.int64), np.zeros(blocks, np.int64))


def _sampled(
    touches: Touches, now_ns: np.ndarray, offsets: np.ndarray, first: np.ndarray, length: np.ndarray
) -> Samples:
    room = int(length.sum(dtype=np.int64))
    samples = Samples(np.empty(room, np.int64), np.empty(room, np.int64))
    n = sample_requests(touches, now_ns, offsets, first, length, samples)
    return Samples(*(column[:n].copy() for column in samples))


@entry
def sample_requests(touches, now_ns, offsets, first, length, samples):
    """Write the samples of requests (times never decrease), those of equal age in a row as one; return their number."""
    n = 0
    for r in range(len(now_ns)):
        touches.n[0] += 1
        request, now = touches.n[0], now_ns[r]
        last = np.int64(-1)
        for s in range(offsets[r], offsets[r + 1]):
            for block in range(first[s], first[s] + length[s]):
                if touches.by[block] == request:
                    continue
                if touches.by[block]:
                    age = now - touches.at_ns[block]
                    if age == last:
                        samples.blocks[n - 1] += 1
                    else:
                        samples.age_ns[n] = age
                        samples.blocks[n] = 1
                        last = age
                        n += 1
                touches.by[block] = request
                touches.at_ns[block] = now
    return n
