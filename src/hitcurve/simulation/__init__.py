"""Simulation of eviction policies, request by request: the only caller of policies."""

from hitcurve.simulation.prefixsim import hole_lines, result_line, write_holes
from hitcurve.simulation.prepared import Prepared, new_frame
from hitcurve.simulation.result import Failure, Result, Settings
from hitcurve.simulation.run import Simulation
from hitcurve.simulation.start import simulate, simulations

__all__ = [
    "Failure",
    "Prepared",
    "Result",
    "Settings",
    "Simulation",
    "hole_lines",
    "new_frame",
    "result_line",
    "simulate",
    "simulations",
    "write_holes",
]
