"""AsymCache: evict the block whose expected cost of being computed again is lowest.

"Multi-Segment Attention", arXiv 2606.02964, sections 4.2 to 4.5.  The expected cost is a block's cost times the chance
that it is used again, which falls with its age: exponentially to one half within the lifetime L, and ``STEEPER`` times
as fast after that.  L is the 99th percentile of the gaps between uses before the first eviction (the first 200 000 of
them), frozen then.  Each side of L has a heap, on which blocks are ordered for good by log(cost) + last use / rate.

    age < L       cost * exp(-age / a)               a = L / ln 2
    age >= L      cost * exp(-(age - t) / b)         b = a / STEEPER,  t = L * (1 - 1 / STEEPER)

Ages are seconds between arrivals, so all blocks of a request have one age.  With ``block_clock`` they are counted in
block accesses, root first.  Where no time passes in the whole trace, or it has no times, the block clock is used.

Heaps are lazy, as in PrefixSim: a block is filed when it is inserted, or at the first eviction in the order of
insertion.  A use does not move it.  When it comes up and was used since, or has come of age, it is filed anew.  So a
block that has come of age competes as old only after it came up once.

Ties: of equal keys, the block filed first goes; between the heaps, the one that is younger than L.  With equal costs
this is LRU by request time, and of the blocks last used at one time those go first that were filed first: as a rule
the inserted before the hit ones, the deepest first.  With equal costs and the block clock it is LRU under prefix-order
replay.

Differs from the paper: costs are as the cost model says; the decay is the same for all blocks, without the paper's
rescaling of it.  A pinned block that comes up is filed anew when the request uses it.
Differs from PrefixSim: pins are honoured; and each block is on one heap once, so nothing has to be rebuilt.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

import numpy as np

from hitcurve._jit import entry, helper, part
from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import OCCUPIED, PIN, REQUEST
from hitcurve.kernels.heap import Heap, first, float_key, holds, listed, new_heap, push, push_near, remove
from hitcurve.kernels.loop import replay_requests
from hitcurve.policies.policy import Policy

SECOND = 1_000_000_000
LIFE = 180 * SECOND, 200_000  # fallback for L, where nothing was used twice before the first eviction
STEEPER = 40, 10  # both: by the seconds clock, by the block clock
GAPS = 200_000  # that L is fitted to, at most
FROZEN, N_GAPS, N_FILED, L = range(4)  # places in ``numbers``; all times are nanoseconds or accesses
A, B, T = range(3)  # places in ``rates``


class Params(NamedTuple):
    block_clock: int = 0  # 1: ages are counted in block accesses, 0: in seconds between arrivals


class State(NamedTuple):
    params: Params
    young: Heap  # by log(cost) + last use / a
    old: Heap  # by log(cost) + (last use + t) / b
    last: np.ndarray  # int64 (n_blocks,): time of the last use, -1 where the block was never resident or was evicted
    filed: np.ndarray  # int64 (n_blocks,): ``last`` when the block was filed
    cost: np.ndarray  # int64 (n_blocks,): of the position at which the block was inserted
    inserted: np.ndarray  # int32 (capacity,): blocks in the order of insertion, before the first eviction
    gaps: np.ndarray  # int64 (GAPS,)
    rates: np.ndarray  # float64: [A], [B], [T]
    numbers: np.ndarray  # int64: [FROZEN] 1 after the first eviction, [N_GAPS], [N_FILED] so far, [L]


def new_state(n_blocks, capacity, params, seed):
    if params.block_clock not in (0, 1):
        raise BadParameter(f"asym_cache: wanted block_clock 0 or 1, found {params.block_clock}")
    last, filed, cost = np.full((3, n_blocks), -1, np.int64)
    return State(
        params,
        young=new_heap(n_blocks, capacity),
        old=new_heap(n_blocks, capacity),
        last=last,
        filed=filed,
        cost=cost,
        inserted=np.zeros(min(capacity, n_blocks), np.int32),
        gaps=np.zeros(GAPS, np.int64),
        rates=np.zeros(3),
        numbers=np.zeros(4, np.int64),
    )


@helper
def counts_blocks(state, frame):
    """Whether time is counted in block accesses."""
    return state.params.block_clock == 1 or frame.arrival_ns[0] == frame.arrival_ns[-1]


@helper
def time_of(state, frame, now):
    """When the request arrives that is being served; ``now`` counts accesses."""
    return now if counts_blocks(state, frame) else frame.arrival_ns[frame.numbers[REQUEST]] - frame.arrival_ns[0]


@part
def use(span_first, span_length, begin, end, last, gaps, numbers, time, tick):
    """The blocks of the spans are used: the first at ``time``, each later one ``tick`` later.  Early gaps are kept."""
    n_gaps = GAPS if numbers[FROZEN] else numbers[N_GAPS]
    for s in range(begin, end):
        start = span_first[s]
        for block in range(start, start + span_length[s]):
            if n_gaps < GAPS and 0 <= last[block] < time:
                gaps[n_gaps] = time - last[block]
                n_gaps += 1
            last[block] = time
            time += tick
    if not numbers[FROZEN]:
        numbers[N_GAPS] = n_gaps


@part
def smallest(values, n, k):
    """The k-th smallest (from 0) of the first n values, by halving the range that it lies in: at most 64 passes."""
    low, high = values[0], values[0]
    for i in range(n):
        low, high = min(low, values[i]), max(high, values[i])
    while low < high:
        middle = low + (high - low) // 2
        at_most = 0
        for i in range(n):
            at_most += values[i] <= middle
        if at_most > k:
            high = middle
        else:
            low = middle + 1
    return low


@helper
def is_old(state, block, time):
    return time - state.last[block] >= state.numbers[L]


@helper
def file_used(state, block):
    """Put a block that is on no heap, and was used just now, on the heap of the young."""
    last = state.last[block]
    state.filed[block] = last
    state.numbers[N_FILED] += 1
    key = log(np.float64(max(1, state.cost[block]))) + last / state.rates[A]
    push_near(state.young, block, float_key(key), state.numbers[N_FILED])


@part
def file(state, block, time):
    """Put a block that is on no heap on the one it belongs to."""
    if is_old(state, block, time):
        last, rates = state.last[block], state.rates
        state.filed[block] = last
        state.numbers[N_FILED] += 1
        key = log(np.float64(max(1, state.cost[block]))) + (last + rates[T]) / rates[B]
        push(state.old, block, float_key(key), state.numbers[N_FILED])
    else:
        file_used(state, block)


@part
def freeze(state, n_residents, by_blocks, time):
    """Fit the lifetime to what was seen, and file the residents."""
    numbers, rates, n = state.numbers, state.rates, state.numbers[N_GAPS]
    steeper = STEEPER[1] if by_blocks else STEEPER[0]
    numbers[FROZEN] = 1
    numbers[L] = LIFE[1] if by_blocks else LIFE[0]
    if n > 0:
        numbers[L] = max(1 if by_blocks else SECOND, smallest(state.gaps, n, min(n - 1, int(0.99 * n))))
    rates[A] = numbers[L] / log(2.0)
    rates[B] = rates[A] / steeper
    rates[T] = numbers[L] * (1 - 1 / steeper)
    for i in range(n_residents):
        file(state, np.int64(state.inserted[i]), time)


@helper
def on_allocate(state, frame, now):
    if not state.numbers[FROZEN]:
        freeze(state, frame.numbers[OCCUPIED], counts_blocks(state, frame), time_of(state, frame, now))


@helper
def on_path(state, frame, now):
    r = frame.numbers[REQUEST]
    begin, end = frame.span_offsets[r], frame.span_offsets[r + 1]
    time, tick = time_of(state, frame, now), 1 if counts_blocks(state, frame) else 0
    use(frame.span_first, frame.span_length, begin, end, state.last, state.gaps, state.numbers, time, tick)


@helper
def on_hit(state, frame, block, position, now):
    if state.numbers[FROZEN] and not (holds(state.young, block) or holds(state.old, block)):
        file(state, block, state.last[block])


@helper
def on_insert(state, frame, block, position, now):
    state.cost[block] = frame.cost[position]
    if state.numbers[FROZEN]:
        file_used(state, block)
    else:
        state.inserted[frame.numbers[OCCUPIED] - 1] = block


@helper
def expected(state, block, time):
    """Cost of the block times the chance that it is used again."""
    age, rates = time - state.last[block], state.rates
    decay = (age - rates[T]) / rates[B] if is_old(state, block, time) else age / rates[A]
    return exp(-decay) * state.cost[block]


@helper
def top(heap):
    """The first block of a heap, or -1."""
    return first(heap) if heap.slots[0] > 0 else np.int64(-1)


@helper
def out_of_place(state, requested, pins, block, old, time):
    """Whether a heap's first block is pinned, was used since it was filed, or belongs to the other heap."""
    pinned = pins != 0 and requested[block] != 0
    return pinned or state.filed[block] != state.last[block] or is_old(state, block, time) != old


@part
def take_victim(state, requested, pins, time):
    """Forget and return the victim.  Blocks that ``requested`` says are pinned, where ``pins``, are set aside."""
    victim = np.int64(-1)
    while victim < 0:
        block, other = top(state.young), top(state.old)
        leaves = block < 0 or not out_of_place(state, requested, pins, block, False, time)
        from_old = leaves and other >= 0 and out_of_place(state, requested, pins, other, True, time)
        if from_old:
            leaves = False
        elif leaves and other >= 0:
            from_old = block < 0 or expected(state, other, time) < expected(state, block, time)
        if from_old:
            block = other
            remove(state.old, block)
        else:
            remove(state.young, block)
        if leaves:
            victim = block
        elif not (pins and requested[block]):
            file(state, block, time)
    state.last[victim] = -1
    return victim


@helper
def evict(state, frame, now):
    return take_victim(state, frame.requested, frame.numbers[PIN], time_of(state, frame, now))


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, on_allocate, on_hit, on_insert, evict, on_path=on_path)


def check(state, frame):
    young, old = listed(state.young), listed(state.old)
    residents = np.flatnonzero(frame.resident)
    filed = sorted(block for _, _, block in young + old)
    if state.numbers[FROZEN]:
        assert filed == residents.tolist()
    else:
        assert not filed and sorted(state.inserted[: len(residents)].tolist()) == residents.tolist()
    assert np.array_equal(np.flatnonzero(state.last >= 0), residents)
    assert (state.filed[filed] <= state.last[filed]).all()


POLICY = Policy(
    "asym_cache",
    family="cost-aware",
    paper="Multi-Segment Attention, arXiv 2606.02964",
    year=2026,
    new_state=new_state,
    replay=replay,
    check=check,
    params=Params,
    needs=frozenset({"cost"}),
    without={"time": "asym_cache: the trace has no times, so ages are counted in block accesses"},
)
