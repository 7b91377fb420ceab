"""Runs every benchmark, or those named: `python -m benchmarks [--list] [NAME ...]`.

A benchmark is a module of `benchmarks.measure` that can be run, such as
`python -m benchmarks.measure.clustering`. Its docstring says what it measures, it prints its
figures, and it skips with a reason where its data does not exist.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "measure"


def main() -> int:
    known = _find()
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks.")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(known)}; all if none")
    options = parser.parse_args()
    if unknown := set(options.names) - set(known):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    failed = False
    for name in options.names or known:
        print(f"{name}: {known[name]}" if options.list else f"== {name}: {known[name]}", flush=True)
        if not options.list:
            failed |= subprocess.run([sys.executable, "-m", f"benchmarks.measure.{name}"]).returncode != 0
    return int(failed)


def _find() -> dict[str, str]:
    """The modules that can be run, each with the first line of its docstring."""
    found: dict[str, str] = {}
    for path in sorted(FOLDER.glob("*.py")):
        source = path.read_text("utf-8")
        if not path.stem.startswith("_") and 'if __name__ == "__main__"' in source:
            found[path.stem] = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    return found


if __name__ == "__main__":
    sys.exit(main())
