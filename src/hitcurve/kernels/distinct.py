"""How many distinct blocks each request holds, where raw ids may occur twice in one request."""

from __future__ import annotations

from hitcurve._jit import entry


@entry
def count_distinct(span_offsets, span_first, span_length, last_seen, distinct):
    """``last_seen`` int32 (blocks,): all -1; scratch.  ``distinct`` int64 (requests,): written.  O(references)."""
    for r in range(len(distinct)):
        n = 0
        for s in range(span_offsets[r], span_offsets[r + 1]):
            for block in range(span_first[s], span_first[s] + span_length[s]):
                if last_seen[block] != r:
                    last_seen[block] = r
                    n += 1
        distinct[r] = n
