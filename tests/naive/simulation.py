"""The request loop, slow and obvious: sets, lists and one policy object.  Written from the reference text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

NEVER = 2**63 - 1


class NaivePolicy:
    """What a naive policy may look at: the cache it serves (``self.cache``), and the arguments of the hooks."""

    cache: NaiveCache

    def arrive(self, request: int) -> None:
        """A request that fits arrives, before it is matched."""

    def path(self, request: int) -> None:
        """There is room for the request, before it is accessed."""

    def release(self) -> int | None:
        """A block to free of the policy's own accord, forgotten by it; None where there is none (any more)."""
        return None

    def begin_allocation(self) -> None:
        """Victims are about to be asked for."""

    def hit(self, block: int, position: int, now: int) -> None:
        raise AssertionError

    def insert(self, block: int, position: int, now: int) -> None:
        raise AssertionError

    def evict(self, now: int) -> int | None:
        """A victim, forgotten by the policy; None after a step that freed nothing."""
        raise AssertionError


@dataclass
class NaiveContext:
    """What is known of each request besides its blocks; None for a session or category that is not told."""

    arrival_ns: Sequence[int]
    category: Sequence[Any]
    session: Sequence[Any]


@dataclass
class NaiveResult:
    hits: list[int] = field(default_factory=list)
    prefix_hits: list[int] = field(default_factory=list)
    holes: list[list[tuple[int, int]]] = field(default_factory=list)
    saved: list[float] = field(default_factory=list)
    evictions: list[int] = field(default_factory=list)
    self_evictions: list[int] = field(default_factory=list)
    overshoots: list[int] = field(default_factory=list)
    releases: list[int] = field(default_factory=list)
    served: list[bool] = field(default_factory=list)
    victims: list[int] = field(default_factory=list)


class NaiveCache:
    """Serve requests (lists of block ids, root first) with a policy; ``cost(position)``, default 1."""

    def __init__(
        self,
        policy: NaivePolicy,
        capacity: int,
        requests: Sequence[Sequence[int]],
        *,
        pin: bool = True,
        deepest_first: bool = True,
        cost: Any = lambda position: 1.0,
        context: NaiveContext | None = None,
    ) -> None:
        self.policy, self.capacity, self.requests = policy, capacity, requests
        self.pin, self.deepest_first, self.cost = pin, deepest_first, cost
        n = len(requests)
        self.context = context or NaiveContext(range(n), [None] * n, [None] * n)
        self.resident: set[int] = set()
        self.clock = 0  # accesses so far
        self.arriving: set[int] = set()  # blocks of the request that is being allocated for
        self.first_missing = -1
        self.stamp = 0  # the clock after the request's last access
        self.next_use: dict[int, int] = {}
        self.request = -1
        policy.cache = self

    def pinned(self, block: int) -> bool:
        return self.pin and block in self.arriving

    def policy_cost(self, position: int) -> int:
        """What policies see: rounded half away from zero."""
        exact = self.cost(position)
        return int(exact + 0.5) if exact >= 0 else -int(-exact + 0.5)

    def run(self) -> NaiveResult:
        result = NaiveResult()
        upcoming = self._annotate()
        for r, blocks in enumerate(self.requests):
            if len(set(blocks)) > self.capacity:
                result.served.append(False)
                for column in (result.hits, result.prefix_hits, result.evictions, result.self_evictions):
                    column.append(0)
                result.overshoots.append(0)
                result.releases.append(0)
                result.saved.append(0.0)
                result.holes.append([])
                continue
            self.request = r
            result.served.append(True)
            self.stamp = self.clock + len(blocks)
            self.policy.arrive(r)
            released = len(self._released())
            self._match(blocks, result)
            self._allocate(blocks, result)
            self.policy.path(r)
            result.releases.append(released + len(self._released()))
            self.next_use.update(zip(blocks, upcoming[r], strict=True))
            positions = range(len(blocks))
            for position in reversed(positions) if self.deepest_first else positions:
                self.clock += 1
                block = blocks[position]
                if block in self.resident:
                    self.policy.hit(block, position, self.clock)
                else:
                    self.resident.add(block)
                    self.policy.insert(block, position, self.clock)
            assert len(self.resident) <= self.capacity and self.resident >= set(blocks)
        return result

    def _match(self, blocks: Sequence[int], result: NaiveResult) -> None:
        present = [block in self.resident for block in blocks]
        result.hits.append(sum(present))
        result.prefix_hits.append(present.index(False) if False in present else len(present))
        self.first_missing = blocks[present.index(False)] if False in present else -1
        result.saved.append(sum(self.cost(p) for p, here in enumerate(present) if here))
        holes: list[tuple[int, int]] = []
        for p, here in enumerate(present):
            if not here and holes and sum(holes[-1]) == p:
                holes[-1] = (holes[-1][0], holes[-1][1] + 1)
            elif not here:
                holes.append((p, 1))
        result.holes.append(holes)

    def _allocate(self, blocks: Sequence[int], result: NaiveResult) -> None:
        needed = len(set(blocks) - self.resident) - (self.capacity - len(self.resident))
        evictions = self_evictions = idle = 0
        self.arriving = set(blocks)
        if needed > 0:
            self.policy.begin_allocation()
        while needed > 0:
            victim = self.policy.evict(self.clock)
            if victim is None:
                idle += 1
                assert idle <= len(self.resident) + 16, "no progress"
                continue
            idle = 0
            self.resident.remove(victim)
            result.victims.append(victim)
            evictions += 1
            if victim in self.arriving:
                self_evictions += 1
            else:
                needed -= 1
        beyond = self._released() if self.arriving else []
        self_evictions += len(self.arriving.intersection(beyond))
        self.arriving = set()
        result.evictions.append(evictions + len(beyond))
        result.overshoots.append(len(beyond))
        result.self_evictions.append(self_evictions)

    def _released(self) -> list[int]:
        """Free what the policy gives up of its own accord."""
        blocks = []
        while (block := self.policy.release()) is not None:
            self.resident.remove(block)
            blocks.append(block)
        return blocks

    def _annotate(self) -> list[list[int]]:
        """Number of the next access of each position, accesses of served requests numbered forward from 1."""
        number = 0
        order: list[list[int]] = []
        for blocks in self.requests:
            fits = len(set(blocks)) <= self.capacity
            order.append([number + 1 + p for p in range(len(blocks))] if fits else [])
            number += len(blocks) if fits else 0
        seen: dict[int, int] = {}
        upcoming: list[list[int]] = [[] for _ in self.requests]
        for r in range(len(self.requests) - 1, -1, -1):
            for p in range(len(order[r]) - 1, -1, -1):
                block = self.requests[r][p]
                upcoming[r].append(seen.get(block, NEVER))
                seen[block] = order[r][p]
            upcoming[r].reverse()
        return upcoming
