"""Runs of a policy's definition, and whether two of them are the same in every measure of every request."""

from __future__ import annotations

import numpy as np

from hitcurve.simulation import Simulation

MEASURED = ("hits", "prefix_hits", "evictions", "self_evictions", "overshoots", "releases", "holes", "resident")


def run(trace, name, capacity, **options):
    return Simulation(trace, name, capacity, kernel="blocks", **options).run()


def same(one, other):
    for column in MEASURED:
        assert np.array_equal(getattr(one.frame, column), getattr(other.frame, column)), column
