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

from hitcurve._jit import helper, part

LINK = np.dtype([("older", np.int32), ("newer", np.int32)])  # neighbours


class Queues(NamedTuple):
    """``links`` LINK (n_blocks + n_queues,), as records; ``size`` int64 (n_queues,)."""

    links: np.ndarray
    size: np.ndarray


def new_queues(n_blocks: int, n_queues: int = 1) -> Queues:
    """Empty queues 0 .. n_queues - 1 over blocks 0 .. n_blocks - 1."""
    links = np.recarray(n_blocks + n_queues, LINK)
    links.older[n_blocks:] = links.newer[n_blocks:] = np.arange(n_blocks, n_blocks + n_queues)
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
    return np.int64(queues.links[sentinel(queues, q)].older)


@helper
def back(queues, q):
    """Oldest block, or the sentinel of an empty queue."""
    return np.int64(queues.links[sentinel(queues, q)].newer)


@helper
def newer(queues, block):
    """Neighbour toward the front (the sentinel, at the front)."""
    return np.int64(queues.links[block].newer)


@helper
def older(queues, block):
    """Neighbour toward the back (the sentinel, at the back)."""
    return np.int64(queues.links[block].older)


@helper
def unlink(queues, block):
    """Take a block out of its queue's ring; the caller keeps the size right."""
    before = queues.links[block].newer
    after = queues.links[block].older
    queues.links[before].older = after
    queues.links[after].newer = before


@helper
def link_front(queues, q, block):
    """Put a block into the ring of queue q, in front; the caller keeps the size right."""
    end = sentinel(queues, q)
    old_front = queues.links[end].older
    queues.links[block].newer = end
    queues.links[block].older = old_front
    queues.links[old_front].newer = block
    queues.links[end].older = block


@helper
def push_front(queues, q, block):
    """Put a block that stands in no queue at the newest end of queue q."""
    link_front(queues, q, block)
    queues.size[q] += 1


@helper
def push_back(queues, q, block):
    """Put a block that stands in no queue at the oldest end of queue q."""
    end = sentinel(queues, q)
    old_back = queues.links[end].newer
    queues.links[block].older = end
    queues.links[block].newer = old_back
    queues.links[old_back].older = block
    queues.links[end].newer = block
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


@part
def put(queues, q, block):
    """``push_front`` as a call, compiled once for all policies: for what happens now and then."""
    push_front(queues, q, block)


@part
def take(queues, q, block):
    """``remove`` as a call, see ``put``."""
    remove(queues, q, block)


def listed(queues: Queues, q: int) -> list[int]:
    """The blocks of queue q from front to back, both directions checked; for tests."""
    n = len(queues.links) - len(queues.size)
    end, found = n + q, []
    block = int(queues.links[end].older)
    while block != end:
        assert 0 <= block < n, f"block {block} in queue {q}"
        assert queues.links[queues.links[block].older].newer == block, f"links around block {block}"
        found.append(block)
        assert len(found) <= n, f"queue {q} has a cycle"
        block = int(queues.links[block].older)
    assert queues.links[queues.links[end].older].newer == end
    assert len(found) == queues.size[q], f"queue {q}: size {queues.size[q]}, found {len(found)}"
    return found
