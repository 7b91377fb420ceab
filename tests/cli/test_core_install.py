"""Every command in an environment with the core alone: an import of an extra's module fails as if it were missing.

The modules are blocked in a process of its own; no second environment is installed.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from ast import literal_eval
from pathlib import Path

import pytest

from untemplate.cli import COMMANDS
from untemplate.demo import make_site, write_site
from untemplate.errors import EXTRA_MODULES

CORE_ONLY = """
import sys
from itertools import chain
from untemplate.errors import EXTRA_MODULES
BLOCKED = set(chain.from_iterable(EXTRA_MODULES.values()))
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocker())
import importlib.util
find_spec = importlib.util.find_spec
def find_core_spec(name, package=None):
    return None if name.partition(".")[0] in BLOCKED else find_spec(name, package)
importlib.util.find_spec = find_core_spec
from untemplate.cli import COMMANDS, main
"""
ONE_COMMAND = "sys.exit(main(sys.argv[1:]))"
# All of them in one process: what one of them could not import, the next one cannot either.
HELP_OF_ALL = "print({name: main([name, '--help']) for name in COMMANDS}, file=sys.stderr)"


def run_core(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", CORE_ONLY + ONE_COMMAND, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_help_of_every_command() -> None:
    command = [sys.executable, "-c", CORE_ONLY + HELP_OF_ALL]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    codes = literal_eval(done.stderr.splitlines()[-1])
    assert set(codes) == set(COMMANDS)
    # `serve` and `annotate` need an extra for everything that they do, and say so.
    assert done.stderr.count("pip install 'untemplate[") == sum(code != 0 for code in codes.values())
    assert sum(code == 0 for code in codes.values()) > len(COMMANDS) / 2


@pytest.fixture(scope="module")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    write_site(make_site("book", 3, 12), folder)
    return folder


def test_what_an_extra_is_missing_for(site_folder: Path, tmp_path: Path) -> None:
    labels = site_folder / "labels.jsonl"
    (tmp_path / "urls.txt").write_text("http://a.example/\n")
    cases = {
        "models": ["train", f"{site_folder}:{labels}", "--schema", "book", "-o", tmp_path / "knowledge"],
        "web": ["annotate", site_folder, "--schema", "book"],
        "render": ["cluster", tmp_path / "urls.txt", "--render"],
        "postgres": ["status", "--catalog", "postgresql://me@localhost/none"],
        "llm": ["learn", site_folder, "--schema", "book", "--llm", "any", "-o", tmp_path / "rules.json"],
        "mcp": ["mcp", site_folder],
    }
    for extra, words in cases.items():
        done = run_core(*words)
        assert done.returncode == 2, (extra, done.stderr)
        assert f"Run: pip install 'untemplate[{extra}]'" in done.stderr
        assert "Traceback" not in done.stderr


def test_every_extra_is_known() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    assert set(EXTRA_MODULES) == set(project["project"]["optional-dependencies"]) - {"dev", "docs"}


def test_the_core_is_enough_to_learn_and_extract(site_folder: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    done = run_core(
        "learn", site_folder, "--schema", "book", "--labels", site_folder / "labels.jsonl", "-o", rules
    )
    assert done.returncode in (0, 1), done.stderr
    done = run_core("extract", site_folder, "--rules", rules, "-o", tmp_path / "records.csv")
    assert done.returncode == 0, done.stderr
    done = run_core("records", site_folder)
    assert "Traceback" not in done.stderr
