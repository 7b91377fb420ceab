"""The notebook in docs/ runs from the first cell to the last, and shows what its texts promise."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def run_cell(source: str, names: dict[str, Any]) -> Any:
    """Run the code of a cell, and return the value of its last expression, as a notebook shows it."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "notebook", "exec"), names)
        return None
    exec(compile(ast.Module(tree.body[:-1], []), "notebook", "exec"), names)
    return eval(compile(ast.Expression(last.value), "notebook", "eval"), names)


def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas", reason="the notebook shows DataFrames, and pandas is not installed")
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    shown = [run_cell("".join(cell["source"]), names) for cell in cells]
    tables = [value for value in shown if hasattr(value, "_repr_html_")]
    assert len(tables) >= 5, "clusters, rules, a record and DataFrames are tables"
    assert all(table._repr_html_().lstrip().startswith(("<table", "<div")) for table in tables)
    frame, books, later = names["frame"], names["books"], names["later"]
    assert len(frame) > 40
    assert frame["title"].notna().all()
    assert {"price.amount", "price.currency"} <= set(books.columns)
    assert names["report"].alarms, "the redesign is noticed"
    assert later["title"].notna().mean() > 0.9


def test_the_notebook_is_committed_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
