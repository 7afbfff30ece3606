"""Queues of runs: what ``queues.py`` does for blocks, for stretches of consecutive block ids.

A run ``[first, first + length)`` stands for its blocks, one behind the other in the queue.  With the deepest block of a
request accessed first, the lower id is the newer; with the root first, the higher one.  A set of queues knows only one
of the two.

    newer ◀────────────────────────────────────────────────────▶ older
    sentinel ── 40 41 42 43 ── 7 8 ── 112 113 114 ── ... ── sentinel          (deepest first)
                └─ node a ──┘  └ b ┘  └── node c ─┘

    starts     one bit a block: set for 40, 7, 112.  The run of a block begins at the nearest mark at or below it
    table      first id of a run -> its node (open addressing, linear probing, deletion by shifting back)

A block stands in at most one run, in one of the queues.  Cutting a range out of a run leaves at most two runs in its
place and changes no other.  Memory: 1 bit a block, 20 bytes a run and 5 to 11 in the table; the arrays are laid out for
the most runs there can be, and the system gives memory to what is touched.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.bits import add, discard, members, nearest_at_or_below, new_bits

RUN = np.dtype([(name, np.int32) for name in ("first", "length", "queue", "older", "newer")])  # length 0: no run
FREED, USED, N_RUNS, MASK, LOW_IS_NEWER = range(5)  # places in Runs.numbers


class Runs(NamedTuple):
    """Nodes 0 .. room - 1, then one sentinel a queue.

    ``numbers``: first freed node or -1, nodes ever used, runs, mask of the table's slots in use, orientation.
    """

    nodes: np.ndarray  # RUN (room + n_queues,), as records
    size: np.ndarray  # int64 (n_queues,): blocks
    starts: np.ndarray  # uint64: bit set
    table: np.ndarray  # int32 (power of two,): node + 1, or 0
    numbers: np.ndarray  # int64 (5,)


def new_runs(n_blocks: int, n_queues: int, most: int, low_is_newer: bool) -> Runs:
    """Empty queues for at most ``most`` of the blocks 0 .. n_blocks - 1."""
    room = min(most, n_blocks) + 1
    nodes = np.recarray(room + n_queues, RUN)
    nodes.older[room:] = nodes.newer[room:] = np.arange(room, room + n_queues)
    return Runs(
        nodes,
        size=np.zeros(n_queues, np.int64),
        starts=new_bits(n_blocks),
        table=np.zeros(max(64, 1 << (2 * room).bit_length()), np.int32),
        numbers=np.array([-1, 0, 0, 63, low_is_newer], np.int64),
    )


# The table.


@helper
def home(first, mask):
    return ((np.int64(first) * 0x9E3779B1 & 0xFFFFFFFF) >> 7) & mask


@helper
def table_put(runs, node):
    mask = runs.numbers[MASK]
    slot = home(runs.nodes[node].first, mask)
    while runs.table[slot]:
        slot = (slot + 1) & mask
    runs.table[slot] = node + 1


@helper
def slot_of(runs, first):
    """The slot of the run that begins at ``first``; there is one."""
    mask = runs.numbers[MASK]
    slot = home(first, mask)
    while runs.nodes[runs.table[slot] - 1].first != first:
        slot = (slot + 1) & mask
    return slot


@helper
def table_drop(runs, first):
    mask = runs.numbers[MASK]
    hole = slot_of(runs, first)
    slot = (hole + 1) & mask
    while runs.table[slot]:
        if ((slot - home(runs.nodes[runs.table[slot] - 1].first, mask)) & mask) >= ((slot - hole) & mask):
            runs.table[hole] = runs.table[slot]
            hole = slot
        slot = (slot + 1) & mask
    runs.table[hole] = 0


@part
def double_table(runs):
    """Use twice as many slots: every run is entered anew."""
    mask = 2 * runs.numbers[MASK] + 1
    runs.numbers[MASK] = mask
    runs.table[: mask + 1] = 0
    for node in range(runs.numbers[USED]):
        if runs.nodes[node].length:
            table_put(runs, node)


# Runs and queues.


@helper
def end_of(runs, node):
    return np.int64(runs.nodes[node].first) + runs.nodes[node].length


@helper
def sentinel(runs, q):
    return len(runs.nodes) - len(runs.size) + q


@helper
def is_sentinel(runs, node):
    return node >= len(runs.nodes) - len(runs.size)


@helper
def back(runs, q):
    """Oldest run of queue q, or its sentinel."""
    return np.int64(runs.nodes[sentinel(runs, q)].newer)


@helper
def front(runs, q):
    """Newest run of queue q, or its sentinel."""
    return np.int64(runs.nodes[sentinel(runs, q)].older)


@helper
def newer(runs, node):
    return np.int64(runs.nodes[node].newer)


@part
def run_at_or_below(runs, block):
    """The node of the run that holds ``block``, or else of the last one before it, or -1."""
    start = nearest_at_or_below(runs.starts, block)
    return np.int64(runs.table[slot_of(runs, start)]) - 1 if start >= 0 else np.int64(-1)


@helper
def new_node(runs, first, length, q):
    numbers = runs.numbers
    if 4 * (numbers[N_RUNS] + 1) > 3 * (numbers[MASK] + 1):
        double_table(runs)
    node = numbers[FREED]
    if node >= 0:
        numbers[FREED] = runs.nodes[node].older
    else:
        node = numbers[USED]
        numbers[USED] = node + 1
    numbers[N_RUNS] += 1
    runs.nodes[node].first = first
    runs.nodes[node].length = length
    runs.nodes[node].queue = q
    add(runs.starts, first)
    table_put(runs, node)
    return node


@helper
def link(runs, node, newer_node):
    """Put a node on the older side of ``newer_node``."""
    older_node = runs.nodes[newer_node].older
    runs.nodes[node].newer = newer_node
    runs.nodes[node].older = older_node
    runs.nodes[older_node].newer = node
    runs.nodes[newer_node].older = node


@helper
def unlink(runs, node):
    newer_node = runs.nodes[node].newer
    older_node = runs.nodes[node].older
    runs.nodes[newer_node].older = older_node
    runs.nodes[older_node].newer = newer_node


@part
def drop_node(runs, node):
    """Take a whole run out of its queue and free its node."""
    first = runs.nodes[node].first
    runs.size[runs.nodes[node].queue] -= runs.nodes[node].length
    unlink(runs, node)
    table_drop(runs, first)
    discard(runs.starts, first)
    runs.nodes[node].length = 0
    runs.nodes[node].older = runs.numbers[FREED]
    runs.numbers[FREED] = node
    runs.numbers[N_RUNS] -= 1


@part
def split(runs, node, at):
    """Make two runs of one, the second beginning at ``at`` inside it; return the new node of ``[at, end)``."""
    tail = new_node(runs, at, end_of(runs, node) - at, runs.nodes[node].queue)
    runs.nodes[node].length = at - runs.nodes[node].first
    link(runs, tail, node if runs.numbers[LOW_IS_NEWER] else newer(runs, node))
    return tail


@helper
def rename(runs, node, first):
    """Let a run begin at another id."""
    table_drop(runs, runs.nodes[node].first)
    discard(runs.starts, runs.nodes[node].first)
    runs.nodes[node].first = first
    add(runs.starts, first)
    table_put(runs, node)


@part
def cut(runs, node, first, end):
    """Take ``[first, end)`` out of the run of ``node``, which holds it.  The pieces left keep their places."""
    start, stop = np.int64(runs.nodes[node].first), end_of(runs, node)
    if start == first and stop == end:
        drop_node(runs, node)
        return
    runs.size[runs.nodes[node].queue] -= end - first
    if start == first:
        rename(runs, node, end)
        runs.nodes[node].length = stop - end
    else:
        if stop > end:
            split(runs, node, end)
        runs.nodes[node].length = first - start


@helper
def continues(runs, q, first, end):
    """True where ``[first, end)``, put in front, would go on the front run of queue q."""
    node = front(runs, q)
    if is_sentinel(runs, node):
        return False
    return (runs.nodes[node].first == end) if runs.numbers[LOW_IS_NEWER] else (end_of(runs, node) == first)


@helper
def put_front(runs, q, first, end):
    """Put ``[first, end)``, which stands in no queue, at the newest end of queue q, as a run of its own."""
    link(runs, new_node(runs, first, end - first, q), sentinel(runs, q))
    runs.size[q] += end - first


@part
def push_front(runs, q, first, end):
    """Put ``[first, end)``, which stands in no queue, in front of queue q; it joins the run that it continues."""
    if continues(runs, q, first, end):
        node = front(runs, q)
        if runs.numbers[LOW_IS_NEWER]:
            rename(runs, node, first)
        runs.nodes[node].length += end - first
        runs.size[q] += end - first
    else:
        put_front(runs, q, first, end)


def check_runs(runs: Runs) -> list[list[int]]:
    """The blocks of each queue from newest to oldest, every invariant asserted; for tests."""
    room, queues, nodes = len(runs.nodes) - len(runs.size), [], set()
    for q in range(len(runs.size)):
        end, found = room + q, []
        node = int(runs.nodes[end].older)
        while node != end:
            assert 0 <= node < runs.numbers[USED] and node not in nodes, f"node {node} in queue {q}"
            assert runs.nodes[runs.nodes[node].older].newer == node, f"links around node {node}"
            assert runs.nodes[node].length >= 1 and runs.nodes[node].queue == q
            first, length = int(runs.nodes[node].first), int(runs.nodes[node].length)
            assert run_at_or_below(runs, first + length - 1) == node and run_at_or_below(runs, first) == node
            blocks = list(range(first, first + length))
            found += blocks if runs.numbers[LOW_IS_NEWER] else blocks[::-1]
            nodes.add(node)
            node = int(runs.nodes[node].older)
        assert runs.nodes[runs.nodes[end].older].newer == end
        assert len(found) == runs.size[q], f"queue {q}: size {runs.size[q]}, found {len(found)}"
        queues.append(found)
    everything = [block for blocks in queues for block in blocks]
    assert len(everything) == len(set(everything)), "a block stands in two runs"
    assert len(nodes) == runs.numbers[N_RUNS] == np.count_nonzero(runs.table[: runs.numbers[MASK] + 1])
    assert members(runs.starts) == sorted(int(runs.nodes[node].first) for node in nodes)
    return queues
