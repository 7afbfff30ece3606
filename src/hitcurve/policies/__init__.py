"""All eviction policies: one file each, listed here and nowhere else."""

from __future__ import annotations

from importlib import import_module

from hitcurve.errors import UnknownName
from hitcurve.policies.policy import Policy

NAMES = (
    # queues
    "lru",
    "fifo",
    "clock",
    "sieve",
    "slru",
    "mru",
    "size",
    "lru-prob",
    "fifo-merge",
    "twoq",
    "qdlp",
    "s3fifo",
    "s3fifod",
    # frequency
    "lfu",
    "lfuda",
    "gdsf",
    "hyperbolic",
    "wtinylfu",
    "lhd",
    # adaptive
    "arc",
    "car",
    "lirs",
    "lecar",
    "cacheus",
    # sampled
    "random",
    "randomtwo",
    "randomlru",
    # oracle
    "belady",
    # cost-aware
    "gdsf_compute",
    "lhd_compute",
    "belady_compute",
    "random_compute",
    "random_compute_small_queue",
    "s3fifo_compute",
)


def policy_named(name: str) -> Policy:
    """The policy of that name (any case; ``-`` and ``_`` are one); imports its file alone."""
    modules = {known.replace("-", "_"): known for known in NAMES}
    module = name.lower().replace("-", "_")
    if module not in modules:
        raise UnknownName("policy", name, NAMES, listing="hitcurve policies")
    return import_module(f"hitcurve.policies.{module}").POLICY
