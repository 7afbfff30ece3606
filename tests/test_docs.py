"""The docs say what is so: generated pages are fresh, shown commands print what is shown, shown Python runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import hitcurve
import make
from hitcurve.cli import VERBS
from hitcurve.policies import NAMES

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")

PAGES = make.console_pages()
SHOWN = [pair for page in PAGES for pair in make.commands(page)]
WRITING = ("hitcurve facts", "hitcurve convert", "hitcurve synth")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which ``hitcurve demo`` has been run, and every shown command that writes a file others read."""
    folder = tmp_path_factory.mktemp("docs")
    make.run("hitcurve demo", folder)
    for command, _ in SHOWN:
        if command.startswith(WRITING):
            make.run(command, folder)
    return folder


@pytest.mark.parametrize("name", make.PAGES)
def test_generated_pages_are_fresh(name):
    assert (ROOT / "docs" / name).read_text() == make.PAGES[name](), "run make docs"


@pytest.mark.parametrize(("command", "output"), SHOWN, ids=[command for command, _ in SHOWN])
def test_shown_commands_print_what_is_shown(command, output, workplace):
    assert make.run(command, workplace) == output


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_shown_python_runs(page, workplace, monkeypatch):
    monkeypatch.chdir(workplace)
    namespace: dict[str, object] = {}
    for block in blocks(page, "python"):
        exec(compile(block, f"{page.name} (python block)", "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target, _ in LINK.findall(page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_stands_in_the_readme(verb):
    assert f"hitcurve {verb}" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("name", hitcurve.__all__)
def test_every_public_name_is_there_and_explained(name):
    value = getattr(hitcurve, name)
    if not isinstance(value, str):
        assert inspect.getdoc(value), name


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/simulation.md"])
def test_policies_are_counted_as_listed(page):
    (number,) = re.findall(r"(\d+)(?: eviction)? policies", (ROOT / page).read_text())
    assert int(number) == len(NAMES)


def test_changelog_knows_this_version():
    assert f"## {hitcurve.__version__}" in (ROOT / "CHANGELOG.md").read_text()
