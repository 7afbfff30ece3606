"""A policy in a file of one's own: loaded, checked, cached, and never stale; each step in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hitcurve.errors import BadParameter, HitcurveError, SimulationError
from hitcurve.policies import policy_named
from hitcurve.simulation import Failure, simulate, simulations
from hitcurve.trace import Trace

MINE = '''"""Second chance: a used block goes round once more."""

from typing import NamedTuple

import numpy as np

from hitcurve.policy_kit import (
    Policy, Queues, back, entry, helper, is_pinned, move_to_front, new_queues, nothing, push_front, remove,
    replay_requests,
)


class State(NamedTuple):
    queue: Queues
    used: np.ndarray


def new_state(n_blocks, capacity, params, seed):
    return State(new_queues(n_blocks), np.zeros(n_blocks, np.uint8))


@helper
def on_hit(state, frame, block, position, now):
    state.used[block] = 1


@helper
def on_insert(state, frame, block, position, now):
    state.used[block] = 0
    push_front(state.queue, 0, block)


@helper
def evict(state, frame, now):
    block = back(state.queue, 0)
    if state.used[block] or is_pinned(frame, block):
        state.used[block] = 0
        move_to_front(state.queue, 0, block)
        return -1
    remove(state.queue, 0, block)
    return block


@entry
def replay(frame, state, begin, end):
    return replay_requests(frame, state, begin, end, nothing, on_hit, on_insert, evict)


POLICY = Policy("second-chance", new_state=new_state, replay=replay)
'''

RUN = """
import json, sys
from hitcurve._jit import compiling
from hitcurve.simulation import simulate
from hitcurve.trace import Trace
from tests.policies.trees import conversations
trace = Trace.of_requests(conversations(seed=3))
made = []
with compiling(lambda: made.append(1)):
    hits = [simulate(trace, path, 30, pin=False).n_block_hits for path in sys.argv[1:]]
print(json.dumps([hits, bool(made)]))
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(MINE)
    return path


def fresh(*paths: Path | str) -> tuple[list[int], bool]:
    """Hits of each policy, and whether machine code was made, in a new process."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, *map(str, paths)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    hits, made = json.loads(done.stdout)
    return hits, made


def test_an_edit_is_run_and_nothing_else_is_compiled(mine):
    fresh("lru")
    (as_clock,), made = fresh(mine)
    assert made
    assert fresh(mine, "lru")[1] is False
    mine.write_text(MINE.replace("state.used[block] = 1", "state.used[block] = 0"))
    (as_fifo, fifo), made = fresh(mine, "fifo")
    assert made and as_fifo == fifo != as_clock
    mine.write_text(MINE)
    assert fresh(mine) == ([as_clock], True)


def test_a_renamed_state_is_no_obstacle(mine):
    (before,), _ = fresh(mine)
    mine.write_text(MINE.replace("State(", "Shelf("))
    assert fresh(mine) == ([before], True)
    assert fresh(mine) == ([before], False)


def test_an_edit_beside_it_is_run(mine):
    mine.write_text("from rules import on_hit, Queue2\n" + MINE.replace("def on_hit", "def _unused"))
    rules = mine.with_name("rules.py")
    text = "from typing import NamedTuple\nfrom hitcurve.policy_kit import helper\n\n"
    text += "class Queue2(NamedTuple):\n    a: int\n\n"
    text += "@helper\ndef on_hit(state, frame, block, position, now):\n    state.used[block] = VALUE\n"
    rules.write_text(text.replace("VALUE", "1"))
    (as_clock,), _ = fresh(mine)
    assert fresh(mine) == ([as_clock], False)
    rules.write_text(text.replace("VALUE", "0"))
    (as_fifo, fifo), made = fresh(mine, "fifo")
    assert made and as_fifo == fifo != as_clock
    folder = mine.with_name("kit")
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "rules.py").write_text(text.replace("VALUE", "1"))
    mine.write_text(mine.read_text().replace("from rules", "from kit.rules"))
    assert fresh(mine)[0] == [as_clock]
    (folder / "rules.py").write_text(text.replace("VALUE", "0"))
    assert fresh(mine) == ([as_fifo], True)


def test_files_of_one_name_in_two_folders_do_not_mix(mine, tmp_path):
    text = "from hitcurve.policy_kit import helper\n\n@helper\ndef on_hit(state, frame, block, position, now):\n"
    paths = []
    for value in (0, 1):
        folder = tmp_path / str(value)
        folder.mkdir()
        (folder / "rules.py").write_text(text + f"    state.used[block] = {value}\n")
        paths.append(folder / "mine.py")
        paths[-1].write_text("from rules import on_hit\n" + MINE.replace("def on_hit", "def _unused"))
    (fifo, *hits), _ = fresh("fifo", *paths, *reversed(paths))
    assert hits[0] == hits[3] == fifo != hits[1] == hits[2]


def test_an_edit_is_run_in_the_same_process_too(mine):
    first = policy_named(str(mine))
    assert policy_named(str(mine)) is first
    mine.write_text(MINE.replace("second-chance", "another"))
    assert policy_named(str(mine)).name == "another"


ELSEWHERE = MINE.replace("Queues, back", "Queues") + "\nfrom hitcurve.policies.lru import on_hit\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (MINE.replace("POLICY =", "policy ="), ": defines no POLICY (wanted POLICY = Policy(...)"),
        (MINE.replace("def evict(", "def evict(("), ":34: "),
        (MINE.replace("import numpy as np", "import nmupy as np"), ":5: ModuleNotFoundError: No module named 'nmupy'"),
        (MINE.replace("def evict(", "def victim("), ": replay needs evict, which the file does not define"),
        (MINE.replace("@helper\ndef evict", "def evict"), ": evict is called from compiled code: put @helper above it"),
        (MINE.replace("@entry\n", ""), ": POLICY.replay: wanted a function under @entry, found <function"),
        (MINE.replace('"second-chance"', '"lru"'), ": POLICY.name: 'lru' is the name of a policy of hitcurve"),
        (MINE.replace('"second-chance"', '"a b"'), ": POLICY.name: wanted a word, found 'a b'"),
        (MINE.split("POLICY =")[0] + "POLICY = 3\n", ": POLICY: wanted a Policy, found 3"),
        (MINE + "\nraise SystemExit(3)\n", ": SystemExit: 3"),
        (MINE + "\n\0", "source code string cannot contain null bytes"),
        (ELSEWHERE, "whose edits would go unnoticed; copy it into a file beside yours"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(mine, text, said):
    mine.write_text(text)
    with pytest.raises(BadParameter) as error:
        policy_named(str(mine))
    assert str(mine) in str(error.value) and said in str(error.value) and "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadParameter, match=r"nothing.py: No such file or directory"):
        policy_named(str(tmp_path / "nothing.py"))
    with pytest.raises(BadParameter, match="clockpro may decline to admit a block"):
        policy_named("ClockPro")
    with pytest.raises(HitcurveError, match="did you mean 's3fifo'"):
        policy_named("s3-fifa")


TRACE = Trace.of_requests([[1, 2, 3], [4, 5], [1, 2, 3]])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    remove(state.queue, 0, block)\n    return block",
            "    return -1",
            "request 1: named no victim in more steps",
        ),
        (
            "    remove(state.queue, 0, block)\n    return block",
            "    return 4",
            "request 1: named a block to free that is not resident",
        ),
        (
            "    remove(state.queue, 0, block)\n    return block",
            "    return 10**12",
            "named a block to free that is not resident",
        ),
        ("state.used[block] = 1", "state.usde[block] = 1", "does not compile: .*usde.*mine.py:24"),
        ("np.zeros(n_blocks, np.uint8)", "np.zeros(n_blocks, np.uint9)", r"AttributeError: .*uint9.*mine.py:19"),
    ],
)
def test_a_policy_that_breaks_the_contract_fails_loudly_and_alone(mine, old, new, said):
    mine.write_text(MINE.replace(old, new))
    with pytest.raises(SimulationError, match=said) as error:
        simulate(TRACE, str(mine), 4)
    assert "second-chance" in str(error.value) and "\n" not in str(error.value)
    failed, lru = simulations(TRACE, [str(mine), "lru"], [4])
    assert isinstance(failed, Failure) and failed.error == str(error.value)
    assert lru.error is None and lru.n_blocks == 8


def test_a_policy_that_ignores_pins_runs_and_the_result_says_so(mine):
    mine.write_text(MINE.replace(" or is_pinned(frame, block)", ""))
    result = simulate(Trace.of_requests([[1, 2, 3, 4], [5], [1, 2, 3, 4, 6]]), str(mine), 5)
    assert result.n_self_eviction > 0
    assert any("does not honour pins" in note for note in result.notes)
