"""`__all__` is exactly what a module offers, and every name that `untemplate` promises is there."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

import untemplate

PACKAGE = Path(untemplate.__file__).parent


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = sorted(module_name(path) for path in PACKAGE.rglob("*.py"))


def tree(module: str) -> ast.Module:
    path = PACKAGE.parent.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text("utf-8"))


def functions_and_classes(module: str) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in tree(module).body if isinstance(node, kinds)}


def imported(module: str) -> set[str]:
    """Names that a package's front door takes in from its own modules."""
    return {
        name.asname or name.name
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("untemplate")
        for name in node.names
    }


@pytest.mark.parametrize("name", MODULES)
def test_all_is_what_a_module_offers(name: str) -> None:
    module = importlib.import_module(name)
    offered = getattr(module, "__all__", None)
    if offered is None:
        # A folder whose modules are imported one by one has nothing but its docstring.
        assert len(tree(name).body) == 1, "no __all__"
        return
    assert len(offered) == len(set(offered)), "named twice"
    assert not [one for one in offered if not hasattr(module, one)], "named, but not there"
    assert not [one for one in offered if one.startswith("_")], "private"


PACKAGES = [module_name(path) for path in PACKAGE.glob("*/__init__.py") if path.parent.name != "cli"]


@pytest.mark.parametrize("name", ["untemplate", *PACKAGES])
def test_a_front_door_exports_what_it_takes_in(name: str) -> None:
    offered = set(getattr(importlib.import_module(name), "__all__", ()))
    public = {one for one in functions_and_classes(name) | imported(name) if not one.startswith("_")}
    assert public <= offered, "taken in, but not in __all__"


def test_untemplate_offers_its_names_and_no_others() -> None:
    assert len(untemplate.__all__) == len(set(untemplate.__all__))
    assert set(untemplate.__all__) <= set(dir(untemplate))
    star: dict[str, object] = {}
    exec("from untemplate import *", star)
    assert set(star) - {"__builtins__"} == set(untemplate.__all__)
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = untemplate.no_such_name  # type: ignore[attr-defined]
