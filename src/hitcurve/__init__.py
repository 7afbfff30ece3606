"""hitcurve: exact LRU hit curves and eviction policy simulation for prefix (KV) caches.

Importing this package imports nothing heavy; each public name loads its module on first use.
"""

from __future__ import annotations

from typing import Any

from hitcurve._version import __version__

_PUBLIC = {
    "Trace": "hitcurve.trace",
    "read_trace": "hitcurve.formats",
    "lru_facts": "hitcurve.lru",
    "hybrid_facts": "hitcurve.lru",
    "LruStack": "hitcurve.lru",
    "HybridStack": "hitcurve.lru",
    "plot": "hitcurve.report.curve",
    "simulate": "hitcurve.simulation",
    "simulations": "hitcurve.simulation",
    "Simulation": "hitcurve.simulation",
    "Instance": "hitcurve.offline.instances",
    "write_facts": "hitcurve.offline.run",
    "run_config": "hitcurve.offline.run",
    "query_facts": "hitcurve.offline.query_tables",
    "HitcurveError": "hitcurve.errors",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'hitcurve' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
