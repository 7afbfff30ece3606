"""Help is quick, complete, and imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from hitcurve.cli import VERBS

HEAVY = ("numba", "numpy", "pyarrow", "pandas", "matplotlib", "zstandard", "orjson", "tqdm")


@pytest.mark.parametrize("args", [["--help"], *([verb, "--help"] for verb in VERBS)], ids=" ".join)
def test_help_imports_nothing_heavy(args):
    code = f"""
import sys
from hitcurve.cli import main
try:
    main({args!r})
except SystemExit as end:
    print(end.code, [module for module in {HEAVY!r} if module in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout.splitlines()[-1], done.stderr) == ("0 []", "")


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_says_what_it_does_with_an_example(verb):
    command = import_module(f"hitcurve.cli.{verb}").command
    text = command.help
    assert text.splitlines()[0] == VERBS[verb]
    assert "Example:\n" in text and f"  hitcurve {verb}" in text
    for option in command.params:
        assert option.param_type_name == "argument" or option.help, f"{verb} {option.name} has no help"
