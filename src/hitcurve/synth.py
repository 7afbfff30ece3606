"""Traces of coding agents from a seed: made up, but with the structure that real ones have.

A session is a conversation of one tenant about one of its projects.  Its prompt begins with the system prompt and tools
of one of the tenant's agents and the project's files, which other sessions share, and grows with every request: by the
answer before, and by what a tool or the user says next.  A user thinks between turns; a tool takes seconds.  Some steps
start a sub-agent, a session of its own for which its parent waits.  A prompt that outgrows the context is compacted:
what follows starts from the shared part and a summary.

    prompt of a request     system prompt, tools | project | first message | answer | tool result | answer | ...
    shared with             agent's sessions     | project's sessions      | later requests of the session

The draws use additions, multiplications and square roots of ``random.Random(seed).random()`` alone, whose numbers
Python promises to keep, so that a seed gives the same trace on every machine.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields
from importlib import resources
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitcurve.errors import BadParameter, UnknownName

if TYPE_CHECKING:
    from hitcurve.trace import Trace

DEMO = "demo.jsonl.zst"
TOKENS_PER_SECOND = 60  # at which answers are written


@dataclass(frozen=True)
class Workload:
    """What is made.  Lengths and times are medians of long-tailed distributions.

    ``sessions``         conversations started by users
    ``hours``            time in which they start
    ``tenants``          customers; they share nothing, and the first have the most sessions
    ``agents``           agents of each tenant, each with a system prompt and tools of its own
    ``projects``         projects of each tenant
    ``turns``            messages that the user sends in a session
    ``steps``            requests that a message leads to, the last one answering it, the others calling tools
    ``system_tokens``    system prompt and tools
    ``project_tokens``   what is in every prompt about the project
    ``opening_tokens``   the first message of a session, with what the user brings along
    ``message_tokens``   every other message
    ``result_tokens``    a tool's result
    ``answer_tokens``    an answer
    ``think_seconds``    between an answer and the next message
    ``tool_seconds``     a tool's work
    ``subagent_share``   share of tool calls that start a sub-agent
    ``context_tokens``   longest prompt possible; compacted from three quarters on; no text is longer than an eighth
    ``block_size``       tokens in a block; only full blocks have ids
    """

    sessions: int = 150
    hours: float = 3.0
    tenants: int = 3
    agents: int = 2
    projects: int = 5
    turns: float = 2
    steps: float = 2
    system_tokens: int = 10_000
    project_tokens: int = 8_000
    opening_tokens: int = 16_000
    message_tokens: int = 250
    result_tokens: int = 1_500
    answer_tokens: int = 300
    think_seconds: float = 900
    tool_seconds: float = 4
    subagent_share: float = 0.1
    context_tokens: int = 160_000
    block_size: int = 64

    def __post_init__(self) -> None:
        for f in fields(self):
            low = 1 if f.type == "int" else 0
            if not low <= getattr(self, f.name) < 2**31:
                raise BadParameter(f"{f.name}: wanted a number >= {low}, found {getattr(self, f.name)}")
        if self.subagent_share > 1:
            raise BadParameter(f"subagent_share: wanted 0 .. 1, found {self.subagent_share}")
        least = 8 * max(self.system_tokens, self.project_tokens)
        if self.context_tokens < least:
            raise BadParameter(f"context_tokens: wanted >= {least}, for 8 system prompts, found {self.context_tokens}")


class Piece(NamedTuple):
    """A text that stands in prompts, as a whole and in one place: its number, and its length in tokens."""

    number: int
    tokens: int


class Request(NamedTuple):
    """One request as it was sent, its prompt as pieces."""

    arrival_ms: int
    completion_ms: int
    tenant: int
    session: str
    parent: str | None
    turn: int
    kind: str
    prompt: tuple[Piece, ...]
    answer_tokens: int


class Draws:
    """Random numbers, and new pieces of random length."""

    def __init__(self, seed: int, most_tokens: int) -> None:
        self.unit = random.Random(seed).random
        self.most_tokens = most_tokens
        self.pieces = 0

    def below(self, n: int) -> int:
        return int(self.unit() * n)

    def about(self, median: float, roots: int = 1) -> float:
        """Log-logistic with the given median and shape ``2 ** roots``, cut at a 30th and the 30-fold of the median."""
        u = self.unit()
        odds = u / (1 - u)
        for _ in range(roots):
            odds = sqrt(odds)
        return median * min(max(odds, 1 / 30), 30)

    def count(self, median: float) -> int:
        """At least 1."""
        return max(1, round(self.about(median)))

    def piece(self, median: float, roots: int = 1, share: float = 1) -> Piece:
        """A new text, of at most a share of ``most_tokens``."""
        self.pieces += 1
        return Piece(self.pieces, min(max(1, round(self.about(median, roots))), int(self.most_tokens * share)))


class Tenant:
    """What the sessions of a tenant share."""

    def __init__(self, number: int, workload: Workload, draws: Draws) -> None:
        self.number = number
        self.agents = [draws.piece(workload.system_tokens, roots=3) for _ in range(workload.agents)]
        self.projects = [draws.piece(workload.project_tokens, roots=2) for _ in range(workload.projects)]
        self.subagent = draws.piece(workload.system_tokens / 2, roots=3)


class World(NamedTuple):
    """What all conversations have in common; finished requests go to ``requests``."""

    workload: Workload
    draws: Draws
    requests: list[Request]


class Conversation:
    """One session: its prompt so far, and its clock in milliseconds."""

    def __init__(self, world: World, tenant: Tenant, name: str, begin_ms: int, shared: tuple[Piece, ...]) -> None:
        self.workload, self.draws, self.requests = world
        self.tenant, self.name, self.now_ms, self.shared = tenant, name, begin_ms, shared
        self.parent: str | None = None
        self.prompt = list(shared)
        self.turn = 1
        self.subagents = 0

    def hear(self, tokens: float, after_seconds: float, share: float = 1) -> None:
        """Something new stands in the prompt, after a while."""
        self.now_ms += round(1000 * self.draws.about(after_seconds))
        self.prompt.append(self.draws.piece(tokens, share=share))

    def ask(self, kind: str) -> None:
        """Send the prompt; the answer becomes part of it."""
        answer = self.draws.piece(self.workload.answer_tokens, share=0.5)
        start, self.now_ms = self.now_ms, self.now_ms + 300 + 1000 * answer.tokens // TOKENS_PER_SECOND
        self.requests.append(
            Request(start, self.now_ms, self.tenant.number, self.name, self.parent, self.turn, kind,
                    tuple(self.prompt), answer.tokens)
        )  # fmt: skip
        self.prompt.append(answer)
        if kind != "compaction" and sum(piece.tokens for piece in self.prompt) > 6 * self.draws.most_tokens:
            self.hear(self.workload.message_tokens, 0, share=0.5)
            self.ask("compaction")
            self.prompt = [*self.shared, self.draws.piece(10 * self.workload.answer_tokens, share=0.5)]

    def work(self, first_kind: str) -> None:
        """Requests until the user has an answer."""
        w, draws = self.workload, self.draws
        self.ask(first_kind)
        for _ in range(draws.count(w.steps) - 1):
            if self.parent is None and draws.unit() < w.subagent_share:
                self.delegate()
                self.hear(w.answer_tokens, 0)
            else:
                self.hear(w.result_tokens, w.tool_seconds)
            self.ask("tool")

    def delegate(self) -> None:
        """A sub-agent does a task; its parent goes on when it is done."""
        self.subagents += 1
        shared = (self.tenant.subagent, self.shared[-1])
        world = World(self.workload, self.draws, self.requests)
        child = Conversation(world, self.tenant, f"{self.name}.{self.subagents}", self.now_ms, shared)
        child.parent = self.name
        child.hear(self.workload.message_tokens, 0)
        child.work("subagent")
        self.now_ms = child.now_ms

    def live(self) -> None:
        """All turns."""
        self.hear(self.workload.opening_tokens, 0)
        self.work("user")
        for _ in range(self.draws.count(self.workload.turns) - 1):
            self.turn += 1
            self.hear(self.workload.message_tokens, self.workload.think_seconds)
            self.work("user")


def synthesize(workload: Workload | None = None, *, seed: int = 0, **changes: Any) -> Trace:
    """The trace of a workload (default: ``Workload(**changes)``).  O(references).

    >>> synthesize(sessions=3, seed=7).n_requests == synthesize(sessions=3, seed=7).n_requests > 3
    True
    """
    from hitcurve.trace import Definition, Labels, RawIds, Trace
    from hitcurve.trace.interning import Interner

    if workload is None:
        known = [f.name for f in fields(Workload)]
        for name in changes:
            if name not in known:
                raise UnknownName("setting of a workload", name, known)
        workload = Workload(**changes)
    requests = _requests(workload, Draws(seed, workload.context_tokens // 8))
    interner = Interner()
    offsets, first, length = [np.zeros(1, np.int64)], [], []
    for some in (requests[i : i + 256] for i in range(0, len(requests), 256)):
        ids = [_block_ids(request.prompt, workload.block_size) for request in some]
        ends = np.concatenate([[0], np.cumsum([len(own) for own in ids])])
        span_ends, span_first, span_length = interner.add(np.concatenate(ids), ends)
        offsets.append(span_ends[1:] + offsets[-1][-1])
        first.append(span_first)
        length.append(span_length)
    told = [f"{f.name}={getattr(workload, f.name)}" for f in fields(workload) if getattr(workload, f.name) != f.default]
    return Trace(
        arrival_ns=np.array([r.arrival_ms for r in requests]) * 1_000_000,
        completion_ns=np.array([r.completion_ms for r in requests]) * 1_000_000,
        input_tokens=np.array([sum(piece.tokens for piece in r.prompt) for r in requests]),
        output_tokens=np.array([r.answer_tokens for r in requests]),
        turn=np.array([r.turn for r in requests]),
        tenant=Labels.of([f"tenant-{r.tenant + 1}" for r in requests]),
        session=Labels.of([r.session for r in requests]),
        parent_session=Labels.of([r.parent for r in requests]),
        request_type=Labels.of([r.kind for r in requests]),
        span_offsets=np.concatenate(offsets),
        span_first=np.concatenate(first),
        span_length=np.concatenate(length),
        n_blocks=interner.n_blocks,
        raw_ids=RawIds(np.arange(interner.n_blocks)),
        definition=Definition(
            block_size=workload.block_size,
            time_unit="ms",
            format="synth",
            sources=(f"synthesize({', '.join([f'seed={seed}', *told])})",),
        ),
    )


def demo_trace() -> Trace:
    """The bundled trace, ``synthesize(seed=0)``, read from its file as any other is."""
    from hitcurve.formats import read_trace

    with resources.as_file(resources.files("hitcurve") / "data" / DEMO) as path:
        trace = read_trace(path)
    return trace.with_definition(sources=("bundled: synthesize(seed=0)",))


def _requests(workload: Workload, draws: Draws) -> list[Request]:
    tenants = [Tenant(number, workload, draws) for number in range(workload.tenants)]
    world = World(workload, draws, [])
    starts = sorted(draws.unit() * workload.hours * 3_600_000 for _ in range(workload.sessions))
    for number, start in enumerate(starts, 1):
        tenant = tenants[int(len(tenants) * draws.unit() * draws.unit())]
        shared = (tenant.agents[draws.below(workload.agents)], tenant.projects[draws.below(workload.projects)])
        Conversation(world, tenant, f"s{number}", round(start), shared).live()
    return sorted(world.requests, key=lambda r: r.arrival_ms)  # stable: by session, at equal times


def _block_ids(prompt: tuple[Piece, ...], block_size: int) -> np.ndarray:
    """int64: for each full block, the piece in which it ends and where; together with the path, that is its content."""
    ends = np.cumsum([piece.tokens for piece in prompt])
    stops = np.arange(block_size, ends[-1] + 1, block_size)
    at = np.searchsorted(ends, stops)
    numbers = np.array([piece.number for piece in prompt])
    return numbers[at] * 2**32 + (ends[at] - stops)
