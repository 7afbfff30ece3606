"""The report of ``hitcurve stats``."""

from __future__ import annotations

