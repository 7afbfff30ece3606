"""All eviction policies: one file each, listed here and nowhere else."""

from __future__ import annotations

import os
from importlib import import_module

from hitcurve.errors import BadParameter, UnknownName
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
    "s4fifo",
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
    "workload_aware",
    "asym_cache",
    # learned
    "lrb",
    "3lcache",
    # by session
    "session_lru",
    "session_s3fifo",
    "session_arc",
    "session_belady",
    "session_random_compute",
    # engines
    "leaf_lru",
    "leaf_lfu",
    "leaf_fifo",
    "leaf_mru",
    "leaf_slru",
    "leaf_priority",
    "leaf_belady",
    "vllm_free_queue",
    "lmcache_lru",
    "mooncake_lru",
    "trtllm_priority",
    "ttl",
    # nodes of the prefix tree
    "partial_node_random_compute",
    "partial_node_random_freq",
    "partial_node_random_compute_small_queue",
)


REFUSED = {
    "clockpro": "clockpro may decline to admit a block, which has no meaning here: a block must be resident to be used",
}


def policy_named(name: str) -> Policy:
    """The policy of that name (any case; ``-`` and ``_`` are one), or in the Python file of that path (``./mine.py``).

    Imports the policy's file alone.  UnknownName; BadParameter for a file that is no policy.
    """
    if name.endswith(".py") or os.sep in name:
        from hitcurve.policies.own import own_policy

        return own_policy(name, NAMES)
    modules = {known.replace("-", "_"): known for known in NAMES}
    module = name.lower().replace("-", "_")
    if module in REFUSED:
        raise BadParameter(REFUSED[module])
    if module not in modules:
        raise UnknownName("policy", name, NAMES, listing="hitcurve policies")
    return import_module(f"hitcurve.policies.{module}").POLICY
