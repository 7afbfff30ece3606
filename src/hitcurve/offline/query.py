"""The query: facts and capacities in, hits of every request, every instance and all together out.

Facts pass by once, in batches; what stays is a sum for each instance and capacity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.offline.capacities import Capacities
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.facts_file import FactsFile
from hitcurve.projection import INFINITE, hits_at


class Answer(NamedTuple):
    """A batch of rows and what hits, one row a request and one column a capacity."""

    rows: FactRows
    hit_blocks: np.ndarray  # int64 (requests, capacities)
    hit_rates: np.ndarray  # float64: hit blocks x block_size_tokens / input_token_len; 0 where that is 0


@dataclass
class Summary:
    """Sums over the requests of one instance, or of all (``instance_id`` None); lists have one entry a capacity."""

    instance_id: str | None
    total_hit_blocks: list[int]
    total_hit_tokens: list[int]
    requests: int = 0
    total_input_tokens: int = 0

    @property
    def hit_rates(self) -> list[float]:
        """Hit tokens over input tokens, 0 where there are none: a ratio of two sums."""
        tokens = self.total_input_tokens
        return [hit / tokens if tokens else 0.0 for hit in self.total_hit_tokens]

    def add(self, requests: int, tokens: int, hit_blocks: Sequence[int], hit_tokens: Sequence[int]) -> None:
        self.requests += requests
        self.total_input_tokens += tokens
        for k, (blocks, of_them) in enumerate(zip(hit_blocks, hit_tokens, strict=True)):
            self.total_hit_blocks[k] += blocks
            self.total_hit_tokens[k] += of_them


class Query:
    """Hits of the facts in ``facts`` at ``capacities``.

    ``ttl_ns``: one time to live for all rows, 2^63 - 1 for none; None: each row's own.  BadParameter where facts
    without ages (CSV: cut when they were written) are asked for one.  State: O(instances x capacities).
    """

    def __init__(self, facts: FactsFile, capacities: Capacities, ttl_ns: int | None = None) -> None:
        if ttl_ns is not None and not facts.has_ages:
            raise BadParameter(
                f"{facts.name}: a time to live needs the ages of blocks, which CSV facts have not (they were cut at "
                "the group's when they were written): ask the Parquet facts"
            )
        self.facts, self.capacities, self.ttl_ns = facts, capacities, ttl_ns
        self._instances: dict[str, Summary] = {}

    def answers(self) -> Iterator[Answer]:
        """Each batch of requests, once; the summaries are whole when it is over.  O(pairs x capacities)."""
        for rows in self.facts.batches:
            hits = self._hits(rows)
            size, length = rows.block_size_tokens[:, None], rows.input_token_len[:, None]
            if int(hits.max(initial=0)) * int(size.max(initial=0)) > INFINITE:
                hits, size, length = (values.astype(object) for values in (hits, size, length))
            tokens = hits * size
            rates = np.asarray(tokens / np.maximum(length, 1) * (length > 0), np.float64)
            self._add_up(rows, hits, tokens)
            yield Answer(rows, hits, rates)

    def summaries(self) -> list[Summary]:
        """Of each instance, by name, then of all."""
        n = len(self.capacities.slots)
        total = Summary(None, [0] * n, [0] * n)
        found = [self._instances[name] for name in sorted(self._instances)]
        for one in found:
            total.add(one.requests, one.total_input_tokens, one.total_hit_blocks, one.total_hit_tokens)
        return [*found, total]

    def _hits(self, rows: FactRows) -> np.ndarray:
        kinds: dict[tuple[int, bool], int] = {}
        places = zip(rows.block_bytes.tolist(), rows.in_bytes.tolist(), strict=True)
        kind = np.array([kinds.setdefault(place, len(kinds)) for place in places], np.int64)
        rooms = [[slot.room(*place) for slot in self.capacities.slots] for place in kinds]
        limits = np.array(rooms, np.int64).reshape(len(kinds), len(self.capacities.slots))[kind]
        return hits_at(rows.offsets, rows.ends(self.ttl_ns), rows.first, rows.second, rows.in_bytes, limits)

    def _add_up(self, rows: FactRows, hits: np.ndarray, tokens: np.ndarray) -> None:
        if not len(rows):
            return
        names = {name: i for i, name in enumerate(dict.fromkeys(rows.instance_id))}
        instance = np.array([names[name] for name in rows.instance_id])
        order = np.argsort(instance, kind="stable")
        begins = np.searchsorted(instance[order], np.arange(len(names)))
        requests = np.diff(np.append(begins, len(rows))).tolist()
        sums = (_sums(values, order, begins) for values in (rows.input_token_len, hits, tokens))
        for name, *counts in zip(names, requests, *sums, strict=True):
            n = len(self.capacities.slots)
            self._instances.setdefault(name, Summary(name, [0] * n, [0] * n)).add(*counts)


def _sums(values: np.ndarray, order: np.ndarray, begins: np.ndarray) -> list[int] | list[list[int]]:
    """Sums over the rows of each group, exact at any size."""
    if int(values.max(initial=0)) * len(values) > INFINITE:
        values = values.astype(object)
    return np.add.reduceat(values[order], begins, axis=0).tolist()
