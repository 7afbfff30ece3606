"""Hybrid models, slow and obvious: one recency list of Full blocks and linear states with charges in bytes.

``NaiveHybrid`` keeps the list without end and writes down points for all capacities; ``NaiveHybridCache`` is one real
cache of so many bytes that evicts its oldest objects.  Both speak of objects ``("F", key)`` and ``("L", key)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

Thing = tuple[str, Any]


def touches(keys: Sequence[Any], step: int) -> Iterator[Thing]:
    """What a request touches, in order: tail to head, at each position the state, if one is written, then the block.

    ``step`` 0 counts as 1.  A state is written at every ``step``-th position, and at the last.
    """
    for position in reversed(range(len(keys))):
        if (position + 1) % (step or 1) == 0 or position == len(keys) - 1:
            yield "L", keys[position]
        yield "F", keys[position]


class Pool:
    """Objects in order of recency with their bytes; an object dies when ``ttl`` has gone by since its last touch."""

    def __init__(self, full: int, linear: int, ttl: int | None = None) -> None:
        if full < 1:
            raise ValueError("full blocks must have bytes")
        self.charge = {"F": full, "L": linear}
        self.ttl = ttl
        self.order: list[Thing] = []  # the most recently touched first; the dead are swept out
        self.touched: dict[Thing, int] = {}
        self.expired_full = 0  # Full blocks swept, each as often as it died

    def touch(self, thing: Thing, now: int = 0) -> None:
        if thing in self.order:
            self.order.remove(thing)
        self.order.insert(0, thing)
        self.touched[thing] = now

    def advance(self, now: int) -> None:
        """Sweep out what is dead at ``now``: age not less than the time to live."""
        if self.ttl is not None:
            dead = [thing for thing in self.order if now - self.touched[thing] >= self.ttl]
            self.expired_full += sum(kind == "F" for kind, _ in dead)
            self.order = [thing for thing in self.order if thing not in dead]

    def required_bytes(self, thing: Thing) -> int | None:
        """Its own charge and those of all newer objects; None where it is not there."""
        if thing not in self.order:
            return None
        return sum(self.charge[kind] for kind, _ in self.order[: self.order.index(thing) + 1])

    def resident_bytes(self) -> int:
        return sum(self.charge[kind] for kind, _ in self.order)

    def unique_full(self) -> int:
        return sum(kind == "F" for kind, _ in self.order)

    def full_within(self, budget: int) -> int:
        """Full blocks among the newest objects that fit into ``budget`` bytes together."""
        count = 0
        for kind, _ in self.order:
            budget -= self.charge[kind]
            if budget < 0:
                break
            count += kind == "F"
        return count


class NaiveHybrid(Pool):
    """Points of each request for every capacity.  ``linear`` 0: Full blocks only, each of which can be gone on from."""

    def __init__(self, full: int, linear: int, step: int, ttl: int | None = None) -> None:
        super().__init__(full, linear, ttl)
        self.step = step

    def process(self, keys: Sequence[Any], now: int = 0) -> list[tuple[int, int, int]]:
        """(capacity in bytes, hit blocks, age of the oldest object that is needed) of each point; then commit."""
        self.advance(now)
        points: list[tuple[int, int, int]] = []
        needed: list[Thing] = []
        for position, key in enumerate(keys):
            if ("F", key) not in self.order:
                break
            needed.append(("F", key))
            state = [("L", key)] if self.charge["L"] else []
            if all(thing in self.order for thing in state):
                threshold = max(self.required_bytes(thing) or 0 for thing in needed + state)
                age = max(now - self.touched[thing] for thing in needed + state)
                while points and points[-1][0] >= threshold:
                    points.pop()
                points.append((threshold, position + 1, age))
        for kind, key in touches(keys, self.step):
            if self.charge[kind]:
                self.touch((kind, key), now)
        return points


class NaiveHybridCache:
    """One cache of ``capacity`` bytes (None: infinite)."""

    def __init__(self, full: int, linear: int, step: int, capacity: int | None, ttl: int | None = None) -> None:
        self.pool, self.step, self.capacity = Pool(full, linear), step, capacity
        self.ttl = ttl

    def alive(self, thing: Thing, now: int) -> bool:
        return thing in self.pool.order and (self.ttl is None or now - self.pool.touched[thing] < self.ttl)

    def request(self, keys: Sequence[Any], now: int = 0) -> int:
        """Blocks up to the last one that has a state, all Full blocks up to it being there; then touch, and evict."""
        hits = 0
        for position, key in enumerate(keys):
            if not self.alive(("F", key), now):
                break
            if self.alive(("L", key), now):
                hits = position + 1
        for thing in touches(keys, self.step):
            self.pool.touch(thing, now)
            while self.capacity is not None and self.pool.resident_bytes() > self.capacity:
                self.pool.order.pop()
        return hits


def hits_at(points: Sequence[Sequence[int]], capacity: int | None) -> int:
    """Hits of the last point that fits."""
    return next((point[1] for point in reversed(points) if capacity is None or point[0] <= capacity), 0)
