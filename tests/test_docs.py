"""Documents do not drift: commands as they are, links that lead somewhere, examples that run as they say."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from io import StringIO
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest

from scripts import docs
from untemplate import Label, learn
from untemplate.cli import main
from untemplate.demo import make_site

DOCS = docs.ROOT / "docs"


def test_commands_page_is_up_to_date() -> None:
    assert docs.COMMANDS.read_text("utf-8") == docs.commands_page(), "run: make docs"


def test_links_lead_somewhere() -> None:
    assert docs.broken_links() == []


def test_contents_link_every_page() -> None:
    contents = (DOCS / "index.md").read_text("utf-8")
    documents = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    pages = {path.relative_to(DOCS).as_posix() for path in documents} - {"index.md"}
    assert pages == set(re.findall(r"\]\(([^)#]+)\)", contents))


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_files_and_names_exist(page: Path) -> None:
    """Check files such as `lists/groups.py` and names such as untemplate.rules.in_words.explain_rule."""
    text = page.read_text("utf-8").replace("`job.py`", "")  # the reader writes this one
    files = [
        path.as_posix()
        for folder in ("src", "tests", "benchmarks", "scripts")
        for path in (docs.ROOT / folder).rglob("*.py")
    ]
    paths = re.findall(r"`([\w/]+\.py)`", text)
    assert [path for path in paths if not any(file.endswith(f"/{path}") for file in files)] == []
    names = re.findall(r"\b(?:untemplate|benchmarks)(?:\.[a-z_]\w*)+", text)
    assert [name for name in names if not exists(name)] == []


def exists(name: str) -> bool:
    """Return True for modules and what they contain. `untemplate.db` and `benchmarks.md` are files."""
    if name.endswith((".db", ".md")):
        return True
    try:
        resolve_name(name)
    except (ImportError, AttributeError):
        return False
    return True


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """The language and the content of each code block."""
    yield from re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.S | re.M)


def commands(block: str) -> Iterator[tuple[str, str]]:
    """The command lines of a console block, each with what it prints; lines after `> ` belong to the command."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        lines = part.splitlines()
        more = [line.removeprefix("> ") for line in lines[1:] if line.startswith("> ")]
        printed = [line for line in lines[1:] if not line.startswith("> ")]
        yield "\n".join([lines[0], *more]), "\n".join(printed)


def assert_printed(expected: str, printed: str, what: str) -> None:
    """White space does not count, and … stands for anything."""
    expected = expected.replace("…", "...")
    same = OutputChecker().check_output(f"{expected}\n", f"{printed}\n", ELLIPSIS | NORMALIZE_WHITESPACE)
    assert same or not expected.strip(), f"{what}\n--- expected\n{expected}\n--- printed\n{printed}"


def run_console(block: str) -> None:
    for command, expected in commands(block):
        if "xsltproc" in command and not shutil.which("xsltproc"):
            continue
        code, printed = run_line(command)
        assert code in (0, 1) or "untemplate: " in expected, f"{command}\n{printed}"
        assert_printed(expected, printed, command)


def run_line(command: str) -> tuple[int, str]:
    """Run a command line; in this process where it needs no shell, which takes half the time."""
    words = shlex.split(command, comments=True)
    if words[0] == "untemplate" and not re.search(r"[|<>;&$*]", command):
        with redirect_stdout(StringIO()) as output, redirect_stderr(output):
            return main(words[1:]), output.getvalue()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


def test_the_tutorial_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for language, block in blocks(DOCS / "tutorial.md"):
        match language:
            case "console":
                run_console(block)
            case "python":
                exec(compile(block, "tutorial.md", "exec"), names)
            case _:
                assert_printed(block, capsys.readouterr().out, "python")


def test_the_catalog_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    site = make_site("book", seed=2, pages=20)
    labeled = list(site.truth)[:2]
    rules = learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema)
    [example] = (block for language, block in blocks(DOCS / "catalog.md") if language == "python")
    names: dict[str, Any] = {"rules": rules, "page": site.pages[0], "fresh_pages": site.pages}
    exec(compile(example, "catalog.md", "exec"), names)
    assert names["rules"] == rules
    assert [page.html for page in names["pages"]] == [site.pages[0].html]
    assert names["labels"] == [Label(site.pages[0].id, "title", "Emma")]
