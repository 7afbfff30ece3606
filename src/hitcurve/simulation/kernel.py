"""Which form of a policy runs: its definition, block by block, or, where it pays, the fast one on ranges.

Both give the same counts, request by request (``docs/ranges.md``), so this is a question of time alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hitcurve.errors import BadParameter
from hitcurve.kernels.frame import Context, Frame
from hitcurve.policies import NAMES, policy_named
from hitcurve.policies.policy import Policy
from hitcurve.policies.ranges import range_form
from hitcurve.policies.ranges.form import Size
from hitcurve.trace import Trace

KERNELS = ("auto", "blocks", "ranges")
LONG_SPAN = 16  # blocks a span, on average: at 8.6 (Mooncake) ranges seldom pay, at 59.5 (agentic_a) 2 to 9 times


class Form(NamedTuple):
    """``name`` blocks or ranges; ``new_state(n_requests, n_blocks, capacity, params, seed, context)``; ``replay``;
    ``check``."""

    name: str
    new_state: Callable[..., Any]
    replay: Callable[..., int]
    check: Callable[[Any, Frame], None] | None


def form_of(policy: Policy, trace: Trace, kernel: str, pin: bool, deepest_first: bool) -> Form:
    """The form that runs under ``kernel`` (``auto``: ranges where spans are long).

    BadParameter where ranges are asked for and cannot do it.
    """
    if kernel not in KERNELS:
        raise BadParameter(f"kernel: wanted {', '.join(KERNELS)}, found {kernel!r}")
    blocks = Form("blocks", lambda n, *rest: policy.state(*rest), policy.replay, policy.check)
    if kernel == "blocks":
        return blocks
    obstacle = _obstacle(policy, trace, pin)
    if obstacle and kernel == "ranges":
        raise BadParameter(f"kernel ranges: {obstacle}; kernel blocks does it")
    short = trace.n_block_refs < LONG_SPAN * len(trace.span_first)
    if obstacle or (short and kernel == "auto"):
        return blocks
    form = range_form(policy.name)
    assert form is not None

    def new_state(n_requests: int, n_blocks: int, capacity: int, params: Any, seed: int, context: Context) -> Any:
        return form.new_state(Size(n_blocks, capacity, n_requests, deepest_first), params)

    return Form("ranges", new_state, form.replay, form.check)


def _obstacle(policy: Policy, trace: Trace, pin: bool) -> str | None:
    if policy.name not in NAMES or policy is not policy_named(policy.name) or range_form(policy.name) is None:
        return f"policy {policy.name} has no form on ranges"
    if not pin:
        return "without pins a request evicts its own blocks one by one"
    if trace.definition.identity != "prefix":
        return "under identity raw a request's spans are not sorted and disjoint"
    return None


def resident_blocks(frame: Frame) -> np.ndarray:
    """bool (blocks,): who is resident, whichever kernel keeps it."""
    if frame.resident.dtype == np.uint8:
        return frame.resident != 0
    return np.unpackbits(frame.resident.view(np.uint8), bitorder="little").astype(bool)
