"""The batch runner: rows in, facts of every instance out, published together or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hitcurve.errors import TraceError
from hitcurve.formats import format_named
from hitcurve.formats.opening import Progress, Source
from hitcurve.formats.tair import TairRows
from hitcurve.lru.hits import LOWER_BOUND
from hitcurve.offline.config import Config, read_config
from hitcurve.offline.fact_rows import FactRows
from hitcurve.offline.facts_csv import FactsCsv
from hitcurve.offline.facts_file import CSV, PARQUET
from hitcurve.offline.facts_parquet import FactsParquet
from hitcurve.offline.instances import Instance
from hitcurve.offline.joining import in_order, joined
from hitcurve.offline.lanes import Lane, Reads
from hitcurve.offline.routing import Routing
from hitcurve.offline.rows import Rows, rows_of, rows_of_trace
from hitcurve.offline.stages import run_through
from hitcurve.publish import check_folder, made_folder, published_together
from hitcurve.trace import Trace

WAITING = 1 << 16  # rows and pairs that are put together


@dataclass(frozen=True)
class Written:
    """What a run has published.  ``requests``: how many of each instance; ``notes``: what to know of their facts."""

    folder: str
    requests: dict[str, int]
    notes: tuple[str, ...]


def run_config(config: Config | str | os.PathLike[str], progress: Progress | None = None) -> Written:
    """Run a whole configuration of LiteHit's offline runner, read or still in its file.

    BadConfig, with every rule that it breaks; other errors as of ``write_facts``.
    """
    if not isinstance(config, Config):
        config = read_config(config)
    check_folder(config.output_result_path)
    tair = format_named("tair")
    with closing(rows_of(config.trace_file_path, config.block_size, progress, otherwise=tair)) as rows:
        override = config.override_instance_id or None
        routing = Routing(config.instances, rows.block_size, override, config.fanout_all_instances)
        return publish_facts(rows, routing, config.output_result_path, config.pipeline_worker_count)


def write_facts(
    source: Source | Trace,
    folder: str | os.PathLike[str],
    instances: Instance | Sequence[Instance],
    *,
    block_size: int | None = None,
    override: str | None = None,
    fanout: bool = False,
    workers: int = 2,
    progress: Progress | None = None,
    **reading: Any,
) -> Written:
    """Facts of a trace, as ``litehit_facts.csv`` and ``litehit_facts.parquet`` in ``folder``, made if it is not there.

    ``source``      a Trace, or the path of one (several, a folder, a pattern, ``-``) in any format
    ``instances``   one: each instance of the trace has a cache of this kind, under its own name.  Several: each has a
                    cache, and a row goes to that of its ``instance_id``
    ``override``    the one of them that gets all rows
    ``fanout``      all of them get all rows
    ``block_size``  tokens of each key's block in the file
    ``workers``     1 does all on this thread; more let reading, following and writing run at the same time, with so
                    many caches at once.  The files are the same, byte for byte
    ``reading``     other options of ``read_trace``

    TraceError for the first bad row, and where no row is a read; OutputError where they cannot be written.  Then
    nothing is published, and what was there before stays.
    """
    with made_folder(folder), closing(_rows(source, block_size, progress, reading)) as rows:
        if isinstance(instances, Instance):
            routing = Routing((), rows.block_size, override, fanout, template=instances)
        else:
            routing = Routing(instances, rows.block_size, override, fanout)
        return publish_facts(rows, routing, folder, workers)


def _rows(source: Source | Trace, block_size: int | None, progress: Progress | None, reading: dict[str, Any]) -> Rows:
    return rows_of_trace(source) if isinstance(source, Trace) else rows_of(source, block_size, progress, reading)


def publish_facts(rows: Rows, routing: Routing, folder: str | os.PathLike[str], workers: int = 1) -> Written:
    """Facts of all reads among ``rows``, both files at once.  Errors as of ``write_facts``."""
    with ExitStack() as stack:
        csv, parquet = stack.enter_context(published_together(folder, (CSV, PARQUET)))
        pool = stack.enter_context(ThreadPoolExecutor(workers)) if workers > 1 else None
        files = _Files(FactsCsv(csv), stack.enter_context(FactsParquet(parquet)))

        def follow(batch: TairRows) -> FactRows | None:
            parts = routing.parts(batch)
            if not parts:
                return None
            each = pool.map if pool and len(parts) > 1 else map
            facts = each(lambda part: part.lane.facts(Reads.of(batch, part.rows)), parts)
            together = joined(list(facts))
            return together if len(parts) == 1 else in_order(together, np.concatenate([part.places for part in parts]))

        run_through(rows.batches, (follow, files.put), workers > 1)
        files.write()
        lanes = [lane for lane in routing.lanes if lane.n_requests]
        if not lanes:
            raise TraceError(rows.name, reason="no usable row: none is a read (get or request)")
        files.parquet.provenance |= _provenance(rows, lanes)
    notes = [*rows.notes, *(f"{lane.instance.instance_id}: {LOWER_BOUND}" for lane in lanes if not lane.exact)]
    return Written(os.fspath(folder), {lane.instance.instance_id: lane.n_requests for lane in lanes}, tuple(notes))


class _Files:
    """Both files.  Rows are put together until they are worth a call of the writers."""

    def __init__(self, csv: FactsCsv, parquet: FactsParquet) -> None:
        self.csv, self.parquet = csv, parquet
        self._waiting: list[FactRows] = []
        self._pairs = 0

    def put(self, facts: FactRows | None) -> None:
        if facts is not None:
            self._waiting.append(facts)
            self._pairs += len(facts) + len(facts.first)
            if self._pairs >= WAITING:
                self.write()

    def write(self) -> None:
        """Whatever still waits."""
        if self._waiting:
            together = joined(self._waiting)
            self.csv.put(together)
            self.parquet.put(together)
        self._waiting, self._pairs = [], 0


def _provenance(rows: Rows, lanes: list[Lane]) -> dict[str, Any]:
    """What is true of all facts of an instance, ready for JSON."""
    return {
        "trace_block_size": rows.block_size,
        "instances": [
            {**asdict(lane.instance), "requests": lane.n_requests, "exact": lane.exact,
             "hits": "exact" if lane.exact else LOWER_BOUND}
            for lane in lanes
        ],
    }  # fmt: skip
