"""How easy the code is to read, as figures: files, branching, repeated names, docstrings, edits for a new method.

python -m benchmarks.measure.house                    the working tree
python -m benchmarks.measure.house --before 62866d5   beside it the tree of a commit, here the one before the redesign
python -m benchmarks.measure.house --folder rules -v  one folder: its files, and everything that is counted
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
PACKAGE = Path("src") / "untemplate"

# The limits that issue 17 set, and those of `.ci`: a file or function above them is listed with -v.
MAX_FILE_LINES = 500
MAX_COMPLEXITY = 10

# What issue 17 asks for, by figure. Files and branching were asked before issues 18 to 20 added 16 files.
TARGETS = {
    "files": "≤ 185",
    "lines of code": "no more",
    "branching per line": "≤ 0.30",
    "docstrings, of the lines of code": "≥ 20 %",
    "public names in several files": "0",
    "private names in several files": "0",
    "file names that occur twice": "0",
    f"functions over complexity {MAX_COMPLEXITY}": "0",
    f"files over {MAX_FILE_LINES} lines": "0",
    "lines of layout/": "≤ 1,000",
    "lines of pipeline.py": "≤ 120",
    "files that a new method touches outside its folder": "1",
}

# Methods of labeling: what a new one has to touch outside its own folder is what an existing one is named in.
METHOD_FOLDERS = ("labeling.segments", "labeling.anchors", "labeling.records.hcrf", "labeling.hcrf")

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER),
}


@dataclass(frozen=True)
class Module:
    """One file of the package, parsed."""

    path: str
    source: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @property
    def name(self) -> str:
        """The module's dotted name below the package."""
        return self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")

    @cached_property
    def functions(self) -> list[_Function]:
        return [node for node in ast.walk(self.tree) if isinstance(node, _Function)]

    @cached_property
    def docstring_lines(self) -> set[int]:
        lines: set[int] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Module | ast.ClassDef | _Function) and ast.get_docstring(
                node, clean=False
            ):
                lines |= _lines_of(node.body[0])
        return lines

    @cached_property
    def code_lines(self) -> int:
        """Lines with code: no blank ones, no comments, no docstrings."""
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.source).readline):
            if token.type not in _NO_CODE:
                lines |= set(range(token.start[0], token.end[0] + 1))
        return len(lines - self.docstring_lines)

    @cached_property
    def definitions(self) -> list[str]:
        """The functions and classes at the top of the file; every command's function is called `command`."""
        kinds = ast.ClassDef | _Function
        return [node.name for node in self.tree.body if isinstance(node, kinds) and node.name != "command"]

    @cached_property
    def imports(self) -> set[str]:
        """The modules of the package that this one imports, without the package's own name."""
        modules = {node.module or "" for node in ast.walk(self.tree) if isinstance(node, ast.ImportFrom)}
        return {name.removeprefix("untemplate.") for name in modules if name.startswith("untemplate.")}


def _lines_of(node: ast.stmt) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def complexity(function: _Function) -> int:
    """Return the number of paths: 1, and 1 for each branch, loop, `and`, `or`, comprehension and its conditions."""
    return 1 + sum(_branches(node) for node in ast.walk(function))


def _branches(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    single = ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case
    return int(isinstance(node, single))


class House:
    """The figures of one tree of the package."""

    def __init__(self, modules: Iterable[Module], folder: str = "") -> None:
        self.all = list(modules)
        self.modules = [module for module in self.all if module.path.startswith(folder)]
        self.folder = folder

    @cached_property
    def code_lines(self) -> int:
        return sum(module.code_lines for module in self.modules)

    @property
    def docstring_share(self) -> float:
        return sum(len(module.docstring_lines) for module in self.modules) / self.code_lines

    @property
    def branching(self) -> float:
        """Complexity per line of functions, docstrings included."""
        functions = [function for module in self.modules for function in module.functions]
        lines = sum(len(_lines_of(function)) for function in functions)
        return sum(map(complexity, functions)) / lines

    @cached_property
    def dense_functions(self) -> list[str]:
        """Functions over the limit of complexity, the densest first."""
        dense = []
        for module in self.modules:
            for function in module.functions:
                if (paths := complexity(function)) > MAX_COMPLEXITY:
                    dense.append((paths, f"{module.path}:{function.lineno} {function.name}: {paths}"))
        return [text for _, text in sorted(dense, reverse=True)]

    @cached_property
    def long_files(self) -> list[str]:
        sizes = [(module.path, len(module.source.splitlines())) for module in self.modules]
        return [f"{path}: {lines} lines" for path, lines in sizes if lines > MAX_FILE_LINES]

    @cached_property
    def public_names_twice(self) -> list[str]:
        return self._names_twice(is_private=False)

    @cached_property
    def private_names_twice(self) -> list[str]:
        return self._names_twice(is_private=True)

    def _names_twice(self, is_private: bool) -> list[str]:
        places: dict[str, list[str]] = {}
        for module in self._with_code():
            for name in module.definitions:
                if name.startswith("_") == is_private:
                    places.setdefault(name, []).append(module.path)
        return self._in_several(places)

    @cached_property
    def file_names_twice(self) -> list[str]:
        """File names that occur more than once; commands in `cli/` and views in `web/` do not count."""
        places: dict[str, list[str]] = {}
        for module in self._with_code():
            if not module.path.startswith(("cli/", "web/")):
                places.setdefault(Path(module.path).stem, []).append(module.path)
        return self._in_several(places)

    def _with_code(self) -> Iterator[Module]:
        return (module for module in self.all if not module.path.endswith("__init__.py"))

    def _in_several(self, places: dict[str, list[str]]) -> list[str]:
        """The names in several files, at least one of which is in the folder that is looked at."""
        repeated = []
        for name, paths in sorted(places.items()):
            if len(paths) > 1 and any(path.startswith(self.folder) for path in paths):
                repeated.append(f"{name}: {', '.join(paths)}")
        return repeated

    @cached_property
    def single_importer_files(self) -> list[str]:
        """Files that one other file imports; a folder's `__init__` does not count."""
        importers: dict[str, set[str]] = {}
        for module in self._with_code():
            for name in module.imports:
                importers.setdefault(name, set()).add(module.path)
        single = []
        for module in self.modules:
            if not module.path.endswith("__init__.py") and len(importers.get(module.name, ())) == 1:
                single.append(f"{module.path}: {', '.join(importers[module.name])}")
        return single

    @cached_property
    def edits_for_a_method(self) -> list[str]:
        """Files outside a method's own folder that import it: those that a further method would touch."""
        edits = set()
        for method in METHOD_FOLDERS:
            users = (module for module in self.all if any(name.startswith(method) for name in module.imports))
            edits |= {module.path for module in users if not module.name.startswith(method)}
        return sorted(edits)

    def figures(self) -> dict[str, str]:
        """Return every figure as text, by what it counts."""
        return {
            "files": str(len(self.modules)),
            "lines of code": f"{self.code_lines:,}",
            "branching per line": f"{self.branching:.3f}",
            "docstrings, of the lines of code": f"{self.docstring_share:.1%}",
            "public names in several files": str(len(self.public_names_twice)),
            "private names in several files": str(len(self.private_names_twice)),
            "file names that occur twice": str(len(self.file_names_twice)),
            "files with a single importer": str(len(self.single_importer_files)),
            f"functions over complexity {MAX_COMPLEXITY}": str(len(self.dense_functions)),
            f"files over {MAX_FILE_LINES} lines": str(len(self.long_files)),
            "lines of layout/": f"{self._lines_below('layout/'):,}",
            "lines of pipeline.py": str(self._lines_below("pipeline.py")),
            "files that a new method touches outside its folder": str(len(self.edits_for_a_method)),
        }

    def _lines_below(self, path: str) -> int:
        """The lines of a file, or of all files of a folder."""
        return sum(len(module.source.splitlines()) for module in self.all if module.path.startswith(path))


def read_house(root: Path, folder: str = "") -> House:
    """Read the package below a checkout."""
    package = root / PACKAGE
    paths = sorted(package.rglob("*.py"))
    modules = [Module(path.relative_to(package).as_posix(), path.read_text("utf-8")) for path in paths]
    return House(modules, folder)


def read_commit(revision: str, folder: str = "") -> House:
    """Read the package as it was in a commit."""
    command = ["git", "-C", str(ROOT), "archive", revision, str(PACKAGE)]
    archive = subprocess.run(command, capture_output=True, check=True).stdout
    with TemporaryDirectory() as name, tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(name, filter="data")
        return read_house(Path(name), folder)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.house", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--before", metavar="COMMIT", help="show the figures of a commit beside those of now")
    parser.add_argument("--folder", default="", help="only this folder of src/untemplate")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is counted")
    options = parser.parse_args()
    now = read_house(ROOT, options.folder)
    columns = {"now": now.figures()}
    if options.before:
        columns = {options.before: read_commit(options.before, options.folder).figures(), **columns}
    console = Console(width=None if sys.stdout.isatty() else 140)
    table = Table("measure", *columns, "asked")
    for measure in now.figures():
        table.add_row(measure, *(figures[measure] for figures in columns.values()), TARGETS.get(measure, ""))
    console.print(table)
    if options.verbose:
        _list_findings(console, now)
    return 0


def _list_findings(console: Console, house: House) -> None:
    findings = {
        "Public names in several files": house.public_names_twice,
        "File names that occur twice": house.file_names_twice,
        "Files with a single importer": house.single_importer_files,
        f"Functions over complexity {MAX_COMPLEXITY}": house.dense_functions,
        f"Files over {MAX_FILE_LINES} lines": house.long_files,
        "Files that a new method touches": house.edits_for_a_method,
    }
    for title, lines in findings.items():
        console.print(f"\n{title}: {len(lines)}")
        for line in lines:
            console.print(f"  {line}", highlight=False)


if __name__ == "__main__":
    sys.exit(main())
