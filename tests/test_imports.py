"""Imports point one way: words ← stages ← pipeline ← engines ← cli, web; and the core stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "untemplate"

# Each part may import the parts of earlier rows, and itself.
ORDER = (
    {"errors", "input_files", "lazy_names", "value_types", "version"},
    {"schema_files"},
    {"schema", "record", "atomic_file", "browser"},
    {"native"},
    {"page"},
    {"rules"},
    {"sources"},
    {"clustering"},
    {"sampling"},
    {"layout"},
    {"lists"},
    {"labeling"},
    {"learning"},
    {"extraction"},
    {"output"},
    {"watching"},
    {"catalog"},
    {"learned"},
    {"pipeline"},
    {"engines"},
    {"web", "scrapy", "agents"},
    {"cli"},
)
RANK = {part: rank for rank, parts in enumerate(ORDER) for part in parts}

# The made-up web makes pages and labels; commands and tests use it, stages do not.
RANK["demo"] = RANK["labeling"] + 0.5
ONLY_OUTSIDE = {"demo"}
OUTSIDE = {"cli", "web"}

# What belongs to an extra, or is slow to load and needed by few.
HEAVY = {
    *("sklearn", "scipy", "pycrfsuite", "extruct", "fastapi", "uvicorn", "playwright", "mcp", "openai"),
    *("pyspark", "sqlalchemy", "psycopg", "scrapy", "pandas", "rich"),
}


def part_of(module: str) -> str:
    """`untemplate.labeling.label` is of the part `labeling`; the package itself is of none."""
    _, _, rest = module.partition(".")
    return rest.partition(".")[0]


def imports(path: Path) -> Iterator[str]:
    """The modules of untemplate that a file imports, also inside functions and for types."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.split(".")[0] == "untemplate")
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: relative import"
            if node.module == "untemplate":
                yield from (f"untemplate.{name.name}" for name in node.names)
            elif node.module and node.module.startswith("untemplate."):
                yield node.module


FILES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    part = path.relative_to(PACKAGE).with_suffix("").parts[0]
    assert part in RANK, f"{part}: say in ORDER where it belongs"
    for module in imports(path):
        other = part_of(module)
        assert other in RANK, f"imports {module}: import the module that defines it"
        assert other == part or RANK[other] < RANK[part], f"imports {module}"
        assert other == part or other not in ONLY_OUTSIDE or part in OUTSIDE, f"imports {module}"


def loaded(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after running some code."""
    code += "\nimport sys\nprint(*{name.split('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines()[-1].split())


def test_the_core_loads_nothing_heavy() -> None:
    assert not loaded("import untemplate") & HEAVY


def test_help_loads_nothing_that_only_commands_need() -> None:
    asked = loaded("from untemplate.cli import main; main(['--help'])")
    assert not (asked - loaded("import untemplate, click")) & (HEAVY | {"numpy", "pyarrow"})


def test_workers_load_neither_models_nor_arrow_nor_what_reads_files() -> None:
    needed = loaded("import untemplate.engines.worker")
    assert not needed & (
        HEAVY | {"pyarrow", "pydantic", "urllib3", "phonenumbers", "dateutil", "price_parser"}
    )


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [
        one
        for name, group in project["optional-dependencies"].items()
        if name not in ("dev", "docs")
        for one in group
    ]
    declared = {
        re.split(r"[^\w.-]", one)[0].lower().replace("_", "-") for one in project["dependencies"] + extras
    }
    distributions = packages_distributions()
    undeclared = {
        top
        for path in FILES
        for top in third_party(path)
        if not declared & {name.lower().replace("_", "-") for name in distributions.get(top, [top])}
    }
    assert not undeclared


def third_party(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name.split(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"untemplate"}
