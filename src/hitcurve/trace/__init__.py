"""The trace: requests as spans of dense block ids, and everything that can be derived from it alone."""

from hitcurve.trace.columns import Labels, RawIds
from hitcurve.trace.definition import Definition
from hitcurve.trace.trace import LABEL_COLUMNS, Trace

__all__ = ["LABEL_COLUMNS", "Definition", "Labels", "RawIds", "Trace"]
