"""The report of ``hitcurve stats``."""

from __future__ import annotations

from hitcurve._version import __version__
from hitcurve.report.definition import trace_lines
from hitcurve.report.report import Report
from hitcurve.statistics import trace_statistics
from hitcurve.trace import Trace
