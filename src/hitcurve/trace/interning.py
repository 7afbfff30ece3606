"""Exact interning: raw block ids in, spans of dense ids out, in batches.

Identity ``prefix``: a block is the pair (parent block, raw id), so two blocks are one exactly when their whole paths
are.  Identity ``raw``: a block is its raw id alone, whatever stands before it.  No hash stands for an identity: the
table below is compared on the full pair.

Dense ids are given in order of first appearance.  A request walks down from the root of its namespace:

    ids of a request    a b c d e f                     known chains    0:a 1:b 2:c 3:x    (3's parent is 2)
    along a chain       compare with the next id        0 1 2 |
    leaving it          one table look-up (2, d)              | 4 5 6  all new: d e f

The table holds only blocks whose parent is not the block before them (``starts``): at most one for each request, so a
look-up is paid where a request leaves a known chain and nowhere else.  (Under ``raw`` every block can be reached from
anywhere, so the table holds them all.)

Cost: O(references) comparisons, O(spans) look-ups.  State: 9 bytes a unique block (``raw``: 17) and 24 to 48 a table
entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hitcurve._jit import entry, helper
from hitcurve.errors import BadParameter
from hitcurve.trace.columns import RawIds
from hitcurve.trace.trace import MAX_BLOCKS

# Codes in this window at the bottom of int64 stand for ids that are no plain integer (or an integer in the window).
WINDOW_END = -(2**63) + 2**40


class State(NamedTuple):
    """``n[0]`` blocks, ``n[1]`` table entries, ``n[2]`` 1 once a raw id came after two different ones (no tree)."""

    n: np.ndarray  # int64 (3,)
    raw: np.ndarray  # int64 (room,): raw id of each block
    starts: np.ndarray  # uint8 (room,): 1 where the parent is not the block before
    parents: np.ndarray  # int64 (room,) under identity raw, else empty: the block before at first sight, or the root
    table_block: np.ndarray  # int32 (power of two,): block, or -1
    table_key: np.ndarray  # int64: its parent block, or -1 - namespace at a root and under identity raw


@helper
def slot_of(parent, raw, mask):
    """First slot to try for a pair (multiplicative mixing; the pair itself is compared)."""
    h = np.uint64(parent) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(raw) * np.uint64(0xC2B2AE3D27D4EB4F)
    h ^= h >> np.uint64(29)
    h *= np.uint64(0xBF58476D1CE4E5B9)
    return np.int64(h >> np.uint64(32)) & mask


@helper
def add_entry(state, key, raw, block):
    mask = len(state.table_block) - 1
    slot = slot_of(key, raw, mask)
    while state.table_block[slot] >= 0:
        slot = (slot + 1) & mask
    state.table_block[slot] = block
    state.table_key[slot] = key


@helper
def differ(state, block, ids, i):
    """Not 0 where the 8 blocks from ``block`` on are not one chain of the 8 ids from ``i`` on (read in vectors)."""
    difference = np.int64(0)
    for k in range(8):
        b = np.uint64(block + k)
        difference |= (state.raw[b] ^ ids[np.uint64(i + k)]) | state.starts[b]
    return difference


@entry
def rehash(old, new):
    """Copy all table entries of ``old`` into the empty, larger table of ``new``."""
    for slot in range(len(old.table_block)):
        block = old.table_block[slot]
        if block >= 0:
            add_entry(new, old.table_key[slot], old.raw[block], block)


@entry
def intern_requests(state, ids, offsets, namespaces, by_path, span_offsets, span_first, span_length):
    """Intern requests ``ids[offsets[r]:offsets[r+1]]``; return the number of spans written.

    ids int64, offsets int64 (requests + 1,), namespaces int64 (requests,).  Room for every new block, table entry and
    span is the caller's duty (``Interner.add``).
    """
    n = state.n[0]
    n_spans = 0
    mask = len(state.table_block) - 1
    span_offsets[0] = 0
    for r in range(len(offsets) - 1):
        root = -1 - namespaces[r]
        before = root  # the block before position i
        i, end = offsets[r], offsets[r + 1]
        while i < end:
            key = before if by_path else root
            slot = slot_of(key, ids[i], mask)
            block = np.int64(state.table_block[slot])
            while block >= 0 and not (state.raw[block] == ids[i] and state.table_key[slot] == key):
                slot = (slot + 1) & mask
                block = np.int64(state.table_block[slot])
            start = i
            if block < 0:
                block = n
                stop = end if by_path else i + 1  # below a new block every path is new; a raw id may be known
                while i < stop:
                    state.raw[n] = ids[i]
                    n += 1
                    i += 1
                follows = before >= 0 and before == block - 1
                if not follows:
                    state.starts[block] = 1
                if not (follows and by_path):
                    state.n[1] += 1
                    add_entry(state, key, ids[start], block)
                if not by_path:
                    state.parents[block] = before
            else:
                if not by_path and state.parents[block] != before:
                    state.n[2] = 1
                i += 1
                following = block + 1
                while i + 8 <= end and following + 8 <= n and not differ(state, following, ids, i):
                    following += 8
                    i += 8
                while i < end and following < n and state.raw[following] == ids[i] and not state.starts[following]:
                    following += 1
                    i += 1
            if start > offsets[r] and block == before + 1:
                span_length[n_spans - 1] += i - start
            else:
                span_first[n_spans] = block
                span_length[n_spans] = i - start
                n_spans += 1
            before = block + (i - start) - 1
        span_offsets[r + 1] = n_spans
    state.n[0] = n
    return n_spans


class Interner:
    """Grows one numbering of blocks over any number of batches.

    >>> interner = Interner()
    >>> offsets, first, length = interner.add_lists([[7, 8, "x"], [7, 8, 2**70], [8]])
    >>> list(zip(first.tolist(), length.tolist())), interner.n_blocks
    ([(0, 3), (0, 2), (3, 1), (4, 1)], 5)
    """

    def __init__(self, identity: str = "prefix") -> None:
        if identity not in ("prefix", "raw"):
            raise BadParameter(f"identity: wanted prefix or raw, found {identity!r}")
        self.by_path = identity == "prefix"
        self._state = State(
            n=np.zeros(3, np.int64),
            raw=np.empty(0, np.int64),
            starts=np.empty(0, np.uint8),
            parents=np.empty(0, np.int64),
            table_block=np.full(1024, -1, np.int32),
            table_key=np.empty(1024, np.int64),
        )
        self._codes: dict[str | bytes | int, int] = {}
        self._namespaces: dict[Any, int] = {}
        self._scratch = (np.empty(0, np.int32), np.empty(0, np.int32))

    @property
    def n_blocks(self) -> int:
        return int(self._state.n[0])

    @property
    def state(self) -> State:
        """What is known so far; its arrays grow with the next batch."""
        return self._state

    def going_on(self, identity: str, state: State) -> Interner:
        """An interner of that identity with these blocks, that knows ids and namespaces as this one does."""
        other = Interner(identity)
        other._state, other._codes, other._namespaces = state, self._codes, self._namespaces
        return other

    def namespace(self, name: Any) -> int:
        """The number of a namespace (tenant, salt, conversation ...); ids of two namespaces never meet."""
        return self._namespaces.setdefault(name, len(self._namespaces))

    def encode(self, raw: str | bytes | int) -> int:
        """The int64 code of one raw id: itself for plain integers, a code below ``WINDOW_END`` for all others."""
        if isinstance(raw, int) and WINDOW_END <= raw < 2**63:
            return raw
        return self._codes.setdefault(raw, len(self._codes) - 2**63)

    def add_lists(self, requests: Sequence[Iterable[Any]], namespaces: Any = None) -> tuple[np.ndarray, ...]:
        """``add`` for lists of raw ids of any kind."""
        coded = [[self.encode(raw) for raw in request] for request in requests]
        offsets = np.zeros(len(coded) + 1, np.int64)
        np.cumsum([len(request) for request in coded], out=offsets[1:])
        return self.add(np.array([code for request in coded for code in request], np.int64), offsets, namespaces)

    def add(
        self, ids: np.ndarray, offsets: np.ndarray, namespaces: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Intern a batch: ``ids`` int64 codes, request r at ``offsets[r]:offsets[r+1]``; ``namespaces`` int64 a row.

        Returns span_offsets int64 (requests + 1,), span_first int32, span_length int32 of this batch.
        """
        n_requests, n_ids = len(offsets) - 1, int(offsets[-1] - offsets[0])
        if namespaces is None:
            namespaces = np.zeros(n_requests, np.int64)
        self._make_room(n_ids, n_requests if self.by_path else n_ids)
        if len(self._scratch[0]) < n_ids:
            self._scratch = (np.empty(n_ids, np.int32), np.empty(n_ids, np.int32))
        first, length = self._scratch
        span_offsets = np.empty(n_requests + 1, np.int64)
        n = intern_requests(self._state, ids, offsets, namespaces, self.by_path, span_offsets, first, length)
        return span_offsets, first[:n].copy(), length[:n].copy()

    def result(self) -> dict[str, Any]:
        """What a Trace wants of the finished numbering: ``n_blocks``, ``raw_ids``, ``contract``."""
        others = {code: raw for raw, code in self._codes.items()}
        return {
            "n_blocks": self.n_blocks,
            "raw_ids": RawIds(self._state.raw[: self.n_blocks].copy(), others),
            "contract": not self._state.n[2],
        }

    def _make_room(self, n_ids: int, n_entries: int) -> None:
        state = self._state
        need = self.n_blocks + n_ids
        if need > len(state.raw):
            if self.n_blocks > MAX_BLOCKS - n_ids:
                raise BadParameter(f"a trace holds at most {MAX_BLOCKS:,} unique blocks")
            room = max(need, len(state.raw) * 5 // 4, 4096)
            state = state._replace(
                raw=grown(state.raw, room),
                starts=grown(state.starts, room),
                parents=state.parents if self.by_path else grown(state.parents, room),
            )
        entries = int(state.n[1]) + n_entries
        if 2 * entries > len(state.table_block):
            room = 1 << (2 * entries).bit_length()
            larger = state._replace(table_block=np.full(room, -1, np.int32), table_key=np.empty(room, np.int64))
            rehash(state, larger)
            state = larger
        self._state = state


@entry
def expand(span_first, span_length, blocks):
    """Write the ids of all spans, one after another, into ``blocks`` (int64)."""
    at = 0
    for s in range(len(span_first)):
        for k in range(span_length[s]):
            blocks[at] = span_first[s] + k
            at += 1


def renumbered(
    order: np.ndarray,
    span_offsets: np.ndarray,
    span_first: np.ndarray,
    span_length: np.ndarray,
    raw_ids: RawIds | None,
    identity: str = "prefix",
    batch: int = 1 << 20,
    namespaces: np.ndarray | None = None,
) -> dict[str, Any]:
    """The requests ``order`` (row numbers) of a set of spans, their blocks numbered anew by first appearance.

    With ``namespaces`` int64, one a row, blocks are also told apart anew: by their raw ids, within each namespace.
    Returns the Trace fields ``span_offsets``, ``span_first``, ``span_length``, ``n_blocks``, ``raw_ids``, ``contract``.
    Needed wherever requests are left out or change places.  O(references) time, O(spans + blocks + batch) memory.
    """
    interner = Interner(identity)
    ends = np.concatenate([[0], np.cumsum(span_length, dtype=np.int64)])
    sizes = (ends[span_offsets[1:]] - ends[span_offsets[:-1]])[order]
    total = np.concatenate([[0], np.cumsum(sizes)])
    offsets, firsts, lengths = [np.zeros(1, np.int64)], [], []
    done = n_spans = 0
    while done < len(order):
        upto = max(done + 1, int(np.searchsorted(total, total[done] + batch, side="right")) - 1)
        rows = order[done:upto]
        n = span_offsets[rows + 1] - span_offsets[rows]
        spans = np.repeat(span_offsets[rows] - np.concatenate([[0], np.cumsum(n)[:-1]]), n) + np.arange(n.sum())
        ids = np.empty(total[upto] - total[done], np.int64)
        expand(span_first[spans], span_length[spans], ids)
        bounds = total[done : upto + 1] - total[done]
        if namespaces is None:
            span_ends, first, length = interner.add(ids, bounds)
        else:
            assert raw_ids is not None
            span_ends, first, length = interner.add(raw_ids.codes[ids], bounds, namespaces[rows])
        offsets.append(span_ends[1:] + n_spans)
        firsts.append(first)
        lengths.append(length)
        n_spans += len(first)
        done = upto
    result = interner.result()
    codes = result["raw_ids"].codes  # raw ids, or numbers of blocks as they were
    if raw_ids is None:
        result["raw_ids"] = None
    else:
        result["raw_ids"] = RawIds(raw_ids.codes[codes] if namespaces is None else codes, raw_ids.others)
    return {
        "span_offsets": np.concatenate(offsets),
        "span_first": np.concatenate(firsts) if firsts else np.empty(0, np.int32),
        "span_length": np.concatenate(lengths) if lengths else np.empty(0, np.int32),
        **result,
    }


def grown(array: np.ndarray, room: int) -> np.ndarray:
    """The same with zeros behind, at least ``room`` long."""
    larger = np.zeros(max(room, len(array)), array.dtype)
    larger[: len(array)] = array
    return larger
