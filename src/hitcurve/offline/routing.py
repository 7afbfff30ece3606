"""Which lanes a row goes to."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hitcurve.errors import BadParameter, TraceError
from hitcurve.formats.tair import TairRows
from hitcurve.offline.instances import Instance
from hitcurve.offline.lanes import Lane


class Part(NamedTuple):
    """What a lane gets of a batch: ``rows``, ascending row numbers, and the ``places`` of their facts (int64)."""

    lane: Lane
    rows: np.ndarray
    places: np.ndarray


class Routing:
    """The lanes of a run, and the way of each row to them.

    ``instances``  one lane each, in this order
    ``override``   the instance that gets all rows
    ``fanout``     each row goes to every lane
    ``template``   instances that are not among ``instances`` get a lane of this kind when they are first met

    Otherwise a row goes to the lane of its ``instance_id``; TraceError where there is none.
    """

    def __init__(
        self,
        instances: Sequence[Instance],
        trace_block_size: int,
        override: str | None = None,
        fanout: bool = False,
        template: Instance | None = None,
    ) -> None:
        ids = [instance.instance_id for instance in instances]
        for instance in (*instances, *([template] if template else [])):
            if instance.block_size % trace_block_size:
                whose = f"instance {instance.instance_id!r}" if instance.instance_id else "the cache"
                wanted = f"a multiple of the trace's {trace_block_size}, found {instance.block_size}"
                raise BadParameter(f"block size of {whose}: wanted {wanted}")
        if len(set(ids)) < len(ids):
            raise BadParameter(f"instances: wanted names that differ, found {', '.join(ids)}")
        if override is not None and override not in ids:
            raise BadParameter(f"override: wanted one of the instances ({', '.join(ids)}), found {override!r}")
        if override is not None and fanout:
            raise BadParameter("override sends all rows to one instance, fanout to all: give one of them")
        if fanout and template is not None:
            raise BadParameter("fanout goes with several instances: name them")
        if not instances and template is None:
            raise BadParameter("instances: wanted at least one, found none")
        self._size, self._override, self._fanout, self._template = trace_block_size, override, fanout, template
        self._lanes = {instance.instance_id: Lane(instance, trace_block_size) for instance in instances}

    @property
    def lanes(self) -> list[Lane]:
        return list(self._lanes.values())

    def parts(self, rows: TairRows) -> list[Part]:
        """The reads of a batch, lane by lane; none where it has none.

        Facts stand in the order of rows, those of one row in the order of lanes.
        """
        reads = np.flatnonzero(~rows.is_write)
        if not len(reads):
            return []
        if self._fanout:
            lanes = self.lanes
            places = np.arange(len(reads)) * len(lanes)
            return [Part(lane, reads, places + k) for k, lane in enumerate(lanes)]
        if self._override is not None:
            return [Part(self._lanes[self._override], reads, reads)]
        of_lane: dict[str, list[int]] = {}
        for row in reads.tolist():
            of_lane.setdefault(rows.instance_ids[row], []).append(row)
        found = ((self._lane(name, rows, chosen[0]), np.array(chosen)) for name, chosen in of_lane.items())
        return [Part(lane, chosen, chosen) for lane, chosen in found]

    def _lane(self, name: str, rows: TairRows, row: int) -> Lane:
        if name not in self._lanes:
            if self._template is None:
                known = list(self._lanes)
                near = known if len(known) <= 3 else difflib.get_close_matches(name, known, n=3, cutoff=0)
                wanted = f"a configured instance ({', '.join(near)}{' ...' * (len(near) < len(known))})"
                raise TraceError(rows.path, int(rows.lines[row]), field="instance_id", wanted=wanted, found=name)
            self._lanes[name] = Lane(replace(self._template, instance_id=name), self._size)
        return self._lanes[name]
