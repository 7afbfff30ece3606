"""Requests as they come, one or many at a time: the same kernels as a whole replay, over storage that grows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Generic

import numpy as np

from hitcurve.lru.recency import Batch, Found, Order, RunOrder
from hitcurve.lru.run_level import Segments
from hitcurve.trace.interning import WINDOW_END, Interner
from hitcurve.trace.tree import SeenIds, by_raw_id

Fact = list[tuple[int, int, int]]


class Stack(Generic[Found]):
    """What stacks of all models share: numbering blocks, the contract of raw ids, and the clock."""

    def __init__(self, identity: str, order: Order[Found]) -> None:
        self.interner = Interner(identity)
        self._seen: defaultdict[int, SeenIds] | None = None  # raw ids of each namespace, while they form a tree
        if identity == "raw":
            self.interner = Interner("prefix")
            self._seen = defaultdict(SeenIds)
        self._order = order
        self._now_ns = -(2**63)

    @property
    def n_blocks(self) -> int:
        """Unique blocks seen so far."""
        return self.interner.n_blocks

    def live_blocks(self, now_ns: int, ttl_ns: int | None = None) -> int:
        """Unique blocks whose age at ``now_ns`` is less than ``ttl_ns`` (None: all)."""
        if ttl_ns is None:
            return self.n_blocks
        return self._order.touched_after(max(self._now_ns, now_ns) - ttl_ns)

    def _follow_one(self, keys: Sequence[Any], now_ns: int, namespace: Any) -> Found:
        ids = np.array([self.interner.encode(key) for key in keys], np.int64)
        number = self.interner.namespace(namespace)
        return self._follow(ids, np.array([0, len(ids)]), np.array([now_ns], np.int64), number)

    def _follow_many(self, keys: np.ndarray, offsets: np.ndarray, now_ns: np.ndarray) -> Found:
        odd = np.flatnonzero(keys < WINDOW_END)
        if len(odd):
            keys = keys.copy()
            keys[odd] = [self.interner.encode(key) for key in keys[odd].tolist()]
        return self._follow(keys, offsets, now_ns, self.interner.namespace(None))

    def _follow(self, ids: np.ndarray, offsets: np.ndarray, now_ns: np.ndarray, namespace: int) -> Found:
        known = self.n_blocks
        namespaces = np.full(len(now_ns), namespace)
        spans = self.interner.add(ids, offsets, namespaces)
        if self._seen is not None and not self._seen[namespace].add(self.interner.state.raw[known : self.n_blocks]):
            self._order = self._order.by_blocks(known)
            self.interner = by_raw_id(self.interner, known)
            self._seen = None
            spans = self.interner.add(ids, offsets, namespaces)
        times = np.maximum.accumulate(np.maximum(now_ns, self._now_ns))
        self._now_ns = int(times[-1]) if len(times) else self._now_ns
        return self._order.follow(Batch(times, *spans), self.n_blocks)


class LruStack(Stack[Segments]):
    """The recency order of all blocks seen so far; judges each request at every capacity, then commits it.

    ``identity``: ``prefix``, a block is its whole path of ids; ``raw``, a block is its id alone.  Raw ids are followed
    at run level while they form a tree (one block before each, always the same, and none twice in a request), and at
    block level from the first batch on in which they do not: facts are then a lower bound at finite capacities, exact
    at infinite capacity, and ``exact`` is False.

    State: the ids of all unique blocks, and O(requests) at run level, where requests whose blocks were all touched
    again by later ones are forgotten; O(unique blocks) at block level.

    >>> stack = LruStack()
    >>> [stack.process(keys, now_ns) for now_ns, keys in enumerate(["abc", "abd", "abc"])]
    [[], [(1, 2, 1)], [(1, 2, 1), (4, 1, 2)]]
    >>> stack.n_blocks
    4
    """

    def __init__(self, identity: str = "prefix") -> None:
        super().__init__(identity, RunOrder())

    @property
    def exact(self) -> bool:
        """False once raw ids have broken the contract: facts from there on are a lower bound at finite capacities."""
        return self.interner.by_path

    def process(self, keys: Sequence[Any], now_ns: int, namespace: Any = None) -> Fact:
        """The facts of one request: (start, length, age_ns) of each segment; then all its blocks are touched.

        ``keys``: raw ids of any kind, from the root; ids of two namespaces never meet.  A time before the last one is
        taken as the last one.  O(keys + segments x log requests) at run level, O(keys x log blocks) at block level.
        """
        found = self._follow_one(keys, now_ns, namespace)
        return list(zip(*(column.tolist() for column in found[1:]), strict=True))

    def process_batch(self, keys: np.ndarray, offsets: np.ndarray, now_ns: np.ndarray) -> Segments:
        """The same for many requests: request r has ``keys[offsets[r]:offsets[r+1]]`` (int64), and comes at
        ``now_ns[r]`` (int64).  Returns the segments of all of them.
        """
        return self._follow_many(keys, offsets, now_ns)
