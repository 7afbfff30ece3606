"""Which write belongs to which read of a publisher log, by comparing keys one by one."""

from __future__ import annotations

from typing import NamedTuple


class Event(NamedTuple):
    source: str
    time: int
    keys: list[int]
    end: int | None = None  # of writes


def pair(events: list[Event]) -> list[int]:
    """For each event the index of its write, or -1; -1 of writes."""
    order = sorted(range(len(events)), key=lambda k: events[k].time)  # stable
    turn = {k: position for position, k in enumerate(order)}
    write_of = [-1] * len(events)
    writes = sorted((event.end, k) for k, event in enumerate(events) if event.end is not None)
    for _, w in writes:
        write = events[w]
        for r in reversed(order[: turn[w]]):
            read = events[r]
            first = read.keys[:-1]
            if (
                read.end is None
                and write_of[r] < 0
                and read.source == write.source
                and write.keys[: len(first)] == first
            ):
                write_of[r] = w
                break
    return write_of
