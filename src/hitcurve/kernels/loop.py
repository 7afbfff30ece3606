"""The request loop: match, allocate, access.  One loop for all policies.

    match     read-only, every position, no stop at a miss: all statistics come from here
    allocate  needed = distinct missing blocks - free room; ask the policy for victims until that many blocks of other
              requests are gone.  A victim that the request itself holds frees a slot and needs one: no progress.
    access    every position, deepest first by default: hit or insert

A policy that needs more than blocks is told of the request before the match and of its path after the allocation, and
may free blocks of its own accord at both places, and beyond the need right after its victims.

A request with more distinct blocks than the capacity is skipped untouched.  PrefixSim's order of operations, see
``docs/simulation.md``.
"""

from __future__ import annotations

from hitcurve._jit import helper, part
from hitcurve.kernels.frame import (
    ARRIVING,
    CAPACITY,
    CLOCK,
    DEEPEST_FIRST,
    N_HOLES,
    NEEDED,
    NEVER,
    OCCUPIED,
    REQUEST,
)
from hitcurve.kernels.matching import match_stretches

# What replay_requests returns, instead of the number of the next request, when a policy broke the contract.
NO_PROGRESS, NOT_RESIDENT, OVER_CAPACITY = -1, -2, -3


@helper
def nothing(state, frame, now):
    """For policies that have nothing to do there."""


@helper
def never(state):
    """For policies that need no pause."""
    return False


@helper
def stretch_at(resident, block, end):
    here = resident[block] != 0
    stop = block + 1
    while stop < end and (resident[stop] != 0) == here:
        stop += 1
    return here, stop


@part
def match(frame, r):
    """Fill the request's measures."""
    match_stretches(frame, r, stretch_at)


@part
def mark(frame, r):
    """Note in ``requested`` which blocks the request holds; return how many of its distinct blocks are missing."""
    missing = 0
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        first = frame.span_first[s]
        for block in range(first, first + frame.span_length[s]):
            missing += (1 - frame.requested[block]) & (1 - frame.resident[block])
            frame.requested[block] = 1
    return missing


@part
def unmark(frame, r):
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        first = frame.span_first[s]
        frame.requested[first : first + frame.span_length[s]] = 0


@part
def foresee(frame, r):
    """Enter when the request's blocks are used again."""
    run = frame.next_offsets[r]
    value = frame.next_first[run]
    left = frame.next_length[run]
    for s in range(frame.span_offsets[r], frame.span_offsets[r + 1]):
        first = frame.span_first[s]
        for block in range(first, first + frame.span_length[s]):
            if left == 0:
                run += 1
                value = frame.next_first[run]
                left = frame.next_length[run]
            frame.next_use[block] = value
            left -= 1
            if value != NEVER:
                value += 1


@helper
def vacate(frame, block):
    """Make a block missing; return False where it is missing already."""
    there = block < len(frame.resident) and frame.resident[block] != 0
    if there:
        frame.resident[block] = 0
        frame.numbers[OCCUPIED] -= 1
    return there


@helper
def free_released(state, frame, now, release):
    """Free what the policy gives up of its own accord; return False where it names a block that is not resident."""
    good = True
    while good:
        block = release(state, frame, now)
        if block < 0:
            break
        good = vacate(frame, block)
        frame.releases[frame.numbers[REQUEST]] += 1
    return good


@helper
def replay_requests(
    frame,
    state,
    begin,
    end,
    on_allocate,
    on_hit,
    on_insert,
    evict,
    on_request=nothing,
    on_path=nothing,
    release=None,
    pause=never,
):
    """Serve requests ``begin`` .. ``end - 1``; return the next one to serve, or a negative code when a policy failed.

    ``on_allocate(state, frame, now)``                    victims are about to be asked for
    ``on_hit(state, frame, block, position, now)``        a resident block is accessed
    ``on_insert(state, frame, block, position, now)``     a block becomes resident
    ``evict(state, frame, now)``                          forget and return a victim, or -1 after a step that freed none

    For policies that look at requests, ``frame.numbers[REQUEST]`` with its spans, times and ``frame.context``:

    ``on_request(state, frame, now)``                     a request that fits arrives, before it is matched
    ``on_path(state, frame, now)``                        there is room for it, before it is accessed
    ``release(state, frame, now)``                        forget and return a block to free of its own accord, or -1:
                                                          after ``on_request``, after the allocation (what was evicted
                                                          beyond its need) and after ``on_path``

    ``now`` counts accesses.  Stops early only where the hole log has no room for the next request, or ``pause(state)``
    is true before it: the caller has to see to something first.  All hooks are inlined; ``begin == end`` serves
    nothing, and so only makes sure that the machine code exists.
    """
    numbers = frame.numbers
    capacity = numbers[CAPACITY]
    for r in range(begin, end):
        if frame.distinct[r] > capacity:
            frame.served[r] = 0
            continue
        first_span, last_span = frame.span_offsets[r], frame.span_offsets[r + 1]
        n = frame.blocks[r]
        no_room = len(frame.hole_log) and numbers[N_HOLES] + (n + 1) // 2 > len(frame.hole_log)
        if no_room or pause(state):
            return r
        numbers[REQUEST] = r
        now = numbers[CLOCK]
        numbers[ARRIVING] = now + n
        on_request(state, frame, now)
        if release is not None and not free_released(state, frame, now, release):
            return NOT_RESIDENT
        match(frame, r)

        if n - frame.hits[r] > capacity - numbers[OCCUPIED]:
            needed = mark(frame, r) - (capacity - numbers[OCCUPIED])
            numbers[NEEDED] = needed
            if needed > 0:
                on_allocate(state, frame, now)
            idle = 0
            while needed > 0:
                victim = evict(state, frame, now)
                if victim < 0:
                    idle += 1
                    if idle > numbers[OCCUPIED] + 16:
                        return NO_PROGRESS
                    continue
                if not vacate(frame, victim):
                    return NOT_RESIDENT
                idle = 0
                frame.evictions[r] += 1
                if frame.requested[victim]:
                    frame.self_evictions[r] += 1
                else:
                    needed -= 1
            if release is not None:
                while True:
                    freed = release(state, frame, now)
                    if freed < 0:
                        break
                    if not vacate(frame, freed):
                        return NOT_RESIDENT
                    frame.evictions[r] += 1
                    frame.overshoots[r] += 1
                    frame.self_evictions[r] += frame.requested[freed]
            unmark(frame, r)

        on_path(state, frame, now)
        if release is not None and not free_released(state, frame, now, release):
            return NOT_RESIDENT
        if len(frame.next_use) and n:
            foresee(frame, r)
        deepest_first = numbers[DEEPEST_FIRST]
        for k in range(last_span - first_span):
            s = last_span - 1 - k if deepest_first else first_span + k
            length = frame.span_length[s]
            step = -1 if deepest_first else 1
            block = frame.span_first[s] + (length - 1 if deepest_first else 0)
            for _ in range(length):
                now += 1
                position = numbers[ARRIVING] - now if deepest_first else n - 1 - (numbers[ARRIVING] - now)
                if frame.resident[block]:
                    on_hit(state, frame, block, position, now)
                else:
                    frame.resident[block] = 1
                    numbers[OCCUPIED] += 1
                    on_insert(state, frame, block, position, now)
                block += step
        numbers[CLOCK] = now
        if numbers[OCCUPIED] > capacity:
            return OVER_CAPACITY
    return end
