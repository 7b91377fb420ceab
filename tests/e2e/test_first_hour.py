"""The first hour of a newcomer: the README, literally, in a new environment with the core alone, then with an extra.

The environment is made by `make demo` in a copy of the project, as the README says. Packages come from pip's cache
where it has them, and the native core is not compiled a second time: records are the same without it. Every command
may find something, or refuse in one line; none may end in a traceback.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scripts import docs
from tests.sources.containers import Written, warc_gz_bytes
from tests.test_docs import assert_printed, blocks, commands
from untemplate.demo import make_site, write_site
from untemplate.labeling import write_labels

README = docs.ROOT / "README.md"
SITE = make_site("restaurant", seed=2, pages=30)
OTHER_SITE = make_site("restaurant", seed=3, pages=20)
LABELED_PAGES = 4

# Commands of the README that need an extra, and the one whose pages would have to be recipes.
EXTRAS = {"train ": "models", "annotate ": "web", "mcp ": "mcp", "--llm ": "llm", "--engine spark": "spark"}
NEEDS_OTHER_FILES = ("--knowledge ", "--schema recipe")
MODEL_COMMANDS = ("train ", "--knowledge ")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, in which `make demo` made an environment with the core alone."""
    folder = tmp_path_factory.mktemp("untemplate")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=docs.ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and (docs.ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(docs.ROOT / name, folder / name)
    [command] = re.findall(r"^make demo$", README.read_text("utf-8"), re.M)
    done = run(f"CC=false {command} PYTHON={sys.executable}", folder)
    if "No matching distribution found" in done.stdout or "Could not fetch" in done.stdout:
        pytest.skip("packages cannot be installed here: no network")
    assert done.returncode == 0, done.stdout
    assert "Against the truth" in done.stdout
    return folder


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with everything that the commands of the README name."""
    folder = tmp_path_factory.mktemp("desk")
    for name, site in (
        ("pages", SITE),
        ("seed", SITE),
        ("other", OTHER_SITE),
        ("fresh", SITE.redesign(0.3, 1)),
    ):
        write_site(site, folder / name)
    labeled = list(SITE.truth)[:LABELED_PAGES]
    write_labels([label for label in SITE.labels if label.page in labeled], folder / "labels.jsonl")
    lists = folder / "results"
    lists.mkdir()
    for page in SITE.pages:
        if page.id in SITE.rows:
            (lists / page.id).write_bytes(page.html)
    crawl = [Written(page.id, page.url, page.html) for page in SITE.pages]
    (folder / "crawl.warc.gz").write_bytes(warc_gz_bytes(crawl))
    return folder


def run(command: str, folder: Path, environment: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command as a person types it; standard output and error together, as a terminal shows them."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    clean["PIP_NO_COMPILE"] = "1"  # most modules of the packages are never imported here
    if environment:
        clean["PATH"] = f"{environment / '.venv' / 'bin'}{os.pathsep}{clean['PATH']}"
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=clean,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def shell_commands() -> list[str]:
    """The commands of the section "In the shell", with a real page and host where the README has made-up ones."""
    [block] = re.findall(
        r"### In the shell\n\n```console\n(.*?)^```$", README.read_text("utf-8"), re.S | re.M
    )
    labeled = next(iter(SITE.truth))
    page = next(page for page in SITE.pages if page.id == labeled)
    real = {
        "http://…": page.url,
        "'Chez Nous'": shlex.quote(SITE.truth[labeled]["name"][0]),
        "www.example.com": urlsplit(page.url).netloc,
    }
    for name, value in real.items():
        block = block.replace(name, value)
    return [line.removeprefix("$ ").partition(" # ")[0].strip() for line in block.splitlines()]


def assert_no_traceback(command: str, done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stdout, f"{command}\n{done.stdout}"
    assert done.returncode in (0, 1, 2), f"{command}\n{done.stdout}"
    if done.returncode == 2:
        assert done.stdout.strip().splitlines()[-1].startswith("untemplate"), f"{command}\n{done.stdout}"


def test_the_readme_with_the_core_alone(project: Path, desk: Path, tmp_path: Path) -> None:
    first = next(block for language, block in blocks(README) if language == "console")
    for command, expected in commands(first):
        done = run(command, tmp_path, project)
        assert_no_traceback(command, done)
        assert done.returncode in (0, 1), f"{command}\n{done.stdout}"
        assert_printed(expected, done.stdout, command)
    for command in shell_commands():
        done = run(command, desk, project)
        assert_no_traceback(command, done)
        extra = next((name for word, name in EXTRAS.items() if word in command), None)
        if extra:
            assert f"pip install 'untemplate[{extra}]'" in done.stdout, f"{command}\n{done.stdout}"
        elif not any(word in command for word in NEEDS_OTHER_FILES):
            assert done.returncode in (0, 1), f"{command}\n{done.stdout}"
    [example] = (block for language, block in blocks(README) if language == "python")
    done = run(f"python -c {shlex.quote(example)}", desk, project)
    assert done.returncode == 0, done.stdout
    assert "label " in done.stdout


def test_the_readme_with_the_models(project: Path, desk: Path) -> None:
    [install] = re.findall(r"^\$ (pip install '\.\[models\]').*$", README.read_text("utf-8"), re.M)
    done = run(f"CC=false {install} --quiet --constraint constraints.txt", project, project)
    assert done.returncode == 0, done.stdout
    for command in shell_commands():
        if any(word in command for word in MODEL_COMMANDS):
            done = run(command, desk, project)
            assert_no_traceback(command, done)
            assert done.returncode in (0, 1), f"{command}\n{done.stdout}"
