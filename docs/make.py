"""Regenerate what the docs take from the code; ``make docs`` runs it, ``tests/test_docs.py`` fails where it is stale.

docs/cli.md, docs/formats.md,
docs/prefixsim-files.md        whole pages
docs/policies.md               whole page
docs/measured.py's pages       the tables of measurements between marks
docs/images/                   pictures of the bundled trace
console blocks                 in README.md and docs/*.md: what the commands after ``$ `` print, where
                               ``hitcurve demo`` has been run
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from measured import MEASURED, with_tables

DOCS = Path(__file__).resolve().parent


def help_text(command: click.Command, path: list[str]) -> str:
    """The help of one command, as a terminal of 100 columns shows it."""
    from hitcurve.cli import group

    settings = {**group.context_settings, "terminal_width": 100}
    top = click.Context(group, info_name=path[0], **settings)
    ctx = top if command is group else click.Context(command, info_name=path[-1], parent=top, terminal_width=100)
    return command.get_help(ctx)


def cli_page() -> str:
    """docs/cli.md: every verb's help, exit statuses, units."""
    from hitcurve.cli import VERBS, ending, group, quantities

    parts = [
        "# Command line\n\n<!-- made by `make docs` from --help; edit the commands instead -->\n",
        f"```text\n{help_text(group, ['hitcurve'])}\n```\n",
        f"## Exit status\n\n{_as_is(ending.__doc__)}\n",
        f"## Units\n\n{_as_is(quantities.__doc__)}\n",
    ]
    for verb in VERBS:
        command = group.get_command(click.Context(group), verb)
        assert command is not None
        parts.append(f"## hitcurve {verb}\n\n```text\n{help_text(command, ['hitcurve', verb])}\n```\n")
    return "\n".join(parts)


def formats_page() -> str:
    """docs/formats.md: the list of formats, and each with its sample record."""
    from hitcurve.report.formats import formats_markdown

    return (
        "<!-- made by `make docs` from hitcurve.formats.FORMATS; edit the formats instead -->\n\n" + formats_markdown()
    )


def prefixsim_page() -> str:
    """docs/prefixsim-files.md: the binary layouts, byte by byte."""
    from hitcurve.formats import prefixsim
    from hitcurve.formats.prefixsim import LCP, LCSLLM

    def table(fields: tuple[prefixsim.Field, ...]) -> str:
        rows = [
            f"| {at} | {_kind(field.kind)} | `{field.name}` | {field.what} |"
            for at, field in zip(prefixsim.offsets(fields), fields, strict=True)
        ]
        return "\n".join(["| offset | type | field | what |", "|---|---|---|---|", *rows])

    parts = [
        "# PrefixSim's binary files",
        "<!-- made by `make docs` from hitcurve/formats/prefixsim.py; edit the tables there instead -->",
        _as_is(prefixsim.__doc__),
        "Of `lcp` only the outline is public: the sizes of header (8192), record (68) and entry (16), the fields of a "
        "record and their order. **Magic, version and header are this project's decision.** A file with another magic "
        "is refused, with what was expected. `lcsllm` is read only; its layout is PrefixSim's.",
    ]
    for layout in (LCP, LCSLLM):
        magic = f"`{layout.magic:#018x}`"
        parts += [f"## {layout.name}, version {layout.version}", f"Magic {magic}. Header:", table(layout.header)]
        parts += [f"Request record, {layout.record_struct.size} bytes:", table(layout.record)]
    parts += [
        "## Block entry, 16 bytes",
        "| offset | type | field | what |\n|---|---|---|---|\n"
        "| 0 | u64 | `block_id` | the whole path; in `lcp` dense, from 1 in order of first appearance |\n"
        "| 8 | i64 | `next_access` | number of the block's next access, -1: never |",
        "Accesses are numbered from 1 over the whole file, root first within a request. In `lcsllm` the number stands "
        "as it is. In `lcp` it stands as the difference to that of the entry before, starting from 0 in each request: "
        "a later turn uses its parent's blocks one after the other, so nearly all differences are 1 or 0, and zstd "
        "makes little of them. Reading does not use these numbers: what is needed of the future is worked out anew.",
        "## What is kept on the way there and back",
        "Everything but: times finer than a microsecond; names of sessions and requests that are not numbers (they are "
        "numbered); tenants and models. Requests are written in the order of completion, where the trace has it; a "
        "reader takes the arrival as a request's time if arrivals ascend, else the completion, and says so.",
    ]
    return "\n\n".join(parts) + "\n"


def policies_page() -> str:
    """docs/policies.md: all policies in one table."""
    from hitcurve.report.policies import policies_markdown

    return (
        "# Policies\n\n<!-- made by `make docs` from the policies' files; edit those instead -->\n\n"
        f"{policies_markdown()}\nAll of them honour pins. `hitcurve policies NAME` shows how one works, its parameters "
        "and where it differs from its paper.\n"
    )


def _kind(code: str) -> str:
    """u64 for Q ...; char[n] for ns."""
    plain = {"Q": "u64", "q": "i64", "I": "u32", "i": "i32", "B": "u8"}
    return plain.get(code) or f"char[{code[:-1]}]"


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "formats.md": formats_page,
    "prefixsim-files.md": prefixsim_page,
    "policies.md": policies_page,
    **{name: partial(with_tables, name) for name in MEASURED},
}


def draw() -> None:
    """docs/images/curve.svg: the picture of the README, from the bundled trace."""
    from hitcurve.cli.demo import demo_curves

    (DOCS / "images").mkdir(exist_ok=True)
    demo_curves().draw(DOCS / "images" / "curve.svg")


CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def console_pages() -> list[Path]:
    """Every page that may show commands."""
    return [DOCS.parent / "README.md", *sorted(DOCS.glob("*.md"))]


def commands(page: Path) -> list[tuple[str, str]]:
    """(command, output) of every ``$ command`` in the console blocks of a page."""
    found = []
    for block in CONSOLE.findall(page.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output.rstrip("\n")))
    return found


def run(command: str, folder: Path) -> str:
    """What a ``hitcurve`` command prints, on a terminal of 100 columns."""
    program, *args = shlex.split(command)
    assert program == "hitcurve", f"only hitcurve commands stand in console blocks: {command}"
    done = subprocess.run(
        [sys.executable, "-m", "hitcurve", *args],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "100"},
        timeout=300,
    )
    assert done.returncode in (0, 1) and "error" not in done.stderr, f"{command}: {done.stderr}"
    return done.stdout.rstrip("\n")


def refresh(page: Path, folder: Path) -> None:
    """Write what each command prints now under it."""

    def rerun(block: re.Match[str]) -> str:
        parts = re.split(r"^\$ ", block[0], flags=re.MULTILINE)[1:]
        said = [part.partition("\n")[0] for part in parts]
        return "\n\n".join(f"$ {command}\n{run(command, folder)}".rstrip("\n") for command in said) + "\n"

    page.write_text(CONSOLE.sub(rerun, page.read_text()))


def _as_is(docstring: str | None) -> str:
    """The indented block of a docstring, as preformatted text, without the docstring's first line."""
    body = re.sub(r"\A.*\n\n", "", (docstring or "").strip("\n"))
    return f"```text\n{body.rstrip()}\n```"


if __name__ == "__main__":
    for name, whole_page in PAGES.items():
        (DOCS / name).write_text(whole_page())
    draw()
    with tempfile.TemporaryDirectory() as workplace:
        run("hitcurve demo", Path(workplace))
        for page in console_pages():
            refresh(page, Path(workplace))
