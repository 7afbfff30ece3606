"""Hit density: hits to come per time in the cache, by age and by class of blocks that were reused at similar ages.

Beckmann, Chen, Cidon: "LHD: Improving Cache Hit Rate by Maximizing Hit Density", NSDI 2018, section 4.  Each class
counts at which ages its blocks are hit and evicted; from that

    density(age) = hits at ages >= age / sum over later ages x of events at ages >= x

Age is time since the last access in steps of 2**shift accesses; the last age takes all that are older.  A block's class
is the number of doublings that take the sum of its last two ages at hits to the number of ages; before the first hit it
is 0.  Every ``interval`` updates the counts fade by a tenth and densities are worked out anew, O(classes x ages).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitcurve._jit import helper, part
from hitcurve.kernels.pool import SIZE

N_CLASSES = 16
FADING = 0.9
AGES_PER_TURN = 0.01  # a turn of the whole cache should take this share of the ages
RESCALED_AT = (5, 25)  # reconfigurations at which the step of ages is fitted to the number of residents

SHIFT, UPDATES, RECONFIGURATIONS, INTERVAL = range(4)
FACTS = [(name, np.int64) for name in ("touched", "last_age", "age_class")]  # in the pool, beside a policy's own


class HitDensity(NamedTuple):
    counts: np.ndarray  # float64 (2 N_CLASSES, n_ages): by age, hits of each class and then evictions of each class
    density: np.ndarray  # float64 (N_CLASSES, n_ages)
    class_of: np.ndarray  # uint8 (2 n_ages,): class of a sum of two ages
    numbers: np.ndarray  # int64: see the places above
    residents: np.ndarray  # float64 [0] / [1]: fading mean of the number of residents


def new_hit_density(n_ages: int, interval: int) -> HitDensity:
    """Nothing counted; densities fall with age and rise with class, numerators 17 to 32 as in libCacheSim."""
    counts = np.zeros((2 * N_CLASSES, n_ages))
    density = (17.0 + np.arange(N_CLASSES))[:, None] / (1.0 + np.arange(n_ages))
    doublings = np.ceil(np.log2(n_ages / np.maximum(np.arange(2 * n_ages), 1)))
    class_of = np.clip(doublings, 0, N_CLASSES - 1).astype(np.uint8)
    class_of[0] = N_CLASSES - 1
    return HitDensity(counts, density, class_of, np.array([10, 0, 0, interval], np.int64), np.zeros(2))


@helper
def age_after(model, elapsed):
    return min(elapsed >> model.numbers[SHIFT], model.density.shape[1] - 1)


@helper
def count_insertion(model, pool, slot, stamp):
    fact = pool.facts[slot]
    fact.touched = stamp
    fact.last_age = 0
    fact.age_class = 0


@helper
def count_hit(model, pool, slot, stamp):
    fact = pool.facts[slot]
    age = age_after(model, stamp - fact.touched)
    model.counts[fact.age_class, age] += 1
    fact.touched = stamp
    fact.age_class = model.class_of[age + fact.last_age]
    fact.last_age = age


@helper
def count_eviction(model, pool, slot, now):
    fact = pool.facts[slot]
    model.counts[N_CLASSES + fact.age_class, age_after(model, now - fact.touched)] += 1


@helper
def end_update(model, pool):
    """After each hit and each insertion: reconfigure when it is time."""
    model.numbers[UPDATES] += 1
    if model.numbers[UPDATES] == model.numbers[INTERVAL]:
        model.numbers[UPDATES] = 0
        reconfigure(model, pool.numbers[SIZE])


@part
def reconfigure(model, n_residents):
    """Fade the counts, fit the step of ages when it is time, work out the densities."""
    n_ages = model.density.shape[1]
    for row in range(2 * N_CLASSES):
        for age in range(n_ages):
            model.counts[row, age] *= FADING
    model.residents[0] = model.residents[0] * FADING + n_residents
    model.residents[1] = model.residents[1] * FADING + 1
    if model.numbers[RECONFIGURATIONS] in RESCALED_AT:
        wanted = model.residents[0] / model.residents[1] / (AGES_PER_TURN * n_ages)
        shift = 1
        while (1 << shift) < wanted:
            shift += 1
        rescale(model.counts, shift - model.numbers[SHIFT])
        model.numbers[SHIFT] = shift
    for c in range(N_CLASSES):
        hits = 0.0
        events = 0.0
        lifetime = 0.0
        for age in range(n_ages - 1, -1, -1):
            hits += model.counts[c, age]
            events += model.counts[c, age] + model.counts[N_CLASSES + c, age]
            lifetime += events
            model.density[c, age] = hits / lifetime if events > 1e-5 else 0.0
    model.numbers[RECONFIGURATIONS] += 1


@helper
def rescale(counts, wider):
    """Steps become 2**wider as long: put counts together, or spread them (what goes beyond the last age is lost)."""
    for row in range(2 * N_CLASSES):
        if wider > 0:
            for age in range(1, counts.shape[1] - 1):
                count = counts[row, age]
                counts[row, age] = 0
                counts[row, age >> wider] += count
        else:
            for age in range(counts.shape[1] - 2, -1, -1):
                counts[row, age] = counts[row, age >> -wider] / (1 << -wider)
