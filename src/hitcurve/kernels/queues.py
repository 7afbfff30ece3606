"""Doubly linked queues over dense block ids, several in one pair of link columns.

A block stands in at most one queue of a set, so k queues over n blocks need n + k rows of links; row n + q is the
sentinel of queue q and closes the ring:

             newer  ◀──────────────────────────▶  older
    sentinel ── front ── ... ── block ── ... ── back ── sentinel

Every operation is O(1).  8 bytes a block; both links of a block lie in one cache line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper

OLDER, NEWER = 0, 1


class Queues(NamedTuple):
    """``links`` int32 (n_blocks + n_queues, 2): [OLDER], [NEWER] neighbour; ``size`` int64 (n_queues,)."""

    links: np.ndarray
    size: np.ndarray


def new_queues(n_blocks: int, n_queues: int = 1) -> Queues:
    """Empty queues 0 .. n_queues - 1 over blocks 0 .. n_blocks - 1."""
    links = np.full((n_blocks + n_queues, 2), -1, np.int32)
    links[n_blocks:] = np.arange(n_blocks, n_blocks + n_queues)[:, None]
    return Queues(links, np.zeros(n_queues, np.int64))


@helper
def sentinel(queues, q):
    return len(queues.links) - len(queues.size) + q


@helper
def is_sentinel(queues, block):
    return block >= len(queues.links) - len(queues.size)


@helper
def front(queues, q):
    """Newest block, or the sentinel of an empty queue."""
    return np.int64(queues.links[sentinel(queues, q), OLDER])


@helper
def back(queues, q):
    """Oldest block, or the sentinel of an empty queue."""
    return np.int64(queues.links[sentinel(queues, q), NEWER])


@helper
def newer(queues, block):
    """Neighbour toward the front (the sentinel, at the front)."""
    return np.int64(queues.links[block, NEWER])


@helper
def older(queues, block):
    """Neighbour toward the back (the sentinel, at the back)."""
    return np.int64(queues.links[block, OLDER])


@helper
def unlink(queues, block):
    """Take a block out of its queue's ring; the caller keeps the size right."""
    before = queues.links[block, NEWER]
    after = queues.links[block, OLDER]
    queues.links[before, OLDER] = after
    queues.links[after, NEWER] = before


@helper
def link_front(queues, q, block):
    """Put a block into the ring of queue q, in front; the caller keeps the size right."""
    end = sentinel(queues, q)
    old_front = queues.links[end, OLDER]
    queues.links[block, NEWER] = end
    queues.links[block, OLDER] = old_front
    queues.links[old_front, NEWER] = block
    queues.links[end, OLDER] = block


@helper
def push_front(queues, q, block):
    """Put a block that stands in no queue at the newest end of queue q."""
    link_front(queues, q, block)
    queues.size[q] += 1


@helper
def push_back(queues, q, block):
    """Put a block that stands in no queue at the oldest end of queue q."""
    end = sentinel(queues, q)
    old_back = queues.links[end, NEWER]
    queues.links[block, OLDER] = end
    queues.links[block, NEWER] = old_back
    queues.links[old_back, OLDER] = block
    queues.links[end, NEWER] = block
    queues.size[q] += 1


@helper
def remove(queues, q, block):
    """Take a block out of queue q, in which it stands."""
    unlink(queues, block)
    queues.size[q] -= 1


@helper
def move_to_front(queues, q, block):
    """Make a block of queue q its newest."""
    unlink(queues, block)
    link_front(queues, q, block)


@entry
def put(queues, q, block):
    """``push_front`` as a call, compiled once for all policies: for what happens now and then."""
    push_front(queues, q, block)


@entry
def take(queues, q, block):
    """``remove`` as a call, see ``put``."""
    remove(queues, q, block)


def listed(queues: Queues, q: int) -> list[int]:
    """The blocks of queue q from front to back, both directions checked; for tests."""
    n = len(queues.links) - len(queues.size)
    end, found = n + q, []
    block = int(queues.links[end, OLDER])
    while block != end:
        assert 0 <= block < n, f"block {block} in queue {q}"
        assert queues.links[queues.links[block, OLDER], NEWER] == block, f"links around block {block}"
        found.append(block)
        assert len(found) <= n, f"queue {q} has a cycle"
        block = int(queues.links[block, OLDER])
    assert queues.links[queues.links[end, OLDER], NEWER] == end
    assert len(found) == queues.size[q], f"queue {q}: size {queues.size[q]}, found {len(found)}"
    return found
