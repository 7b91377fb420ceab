"""Every public name documents itself, and every example in a docstring runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import untemplate

PACKAGE = Path(untemplate.__file__).parent
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def is_exception(name: str) -> bool:
    value = getattr(untemplate, name)
    return inspect.isclass(value) and issubclass(value, Exception)


def modules_with_examples() -> list[str]:
    paths = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text("utf-8"))
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths]
    return [name.removesuffix(".__init__") for name in names]


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(example, out=output.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


@pytest.mark.parametrize("name", [name for name in untemplate.__all__ if not is_exception(name)])
def test_a_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(untemplate, name)) or "")


FUNCTIONS = [name for name in untemplate.__all__ if inspect.isfunction(getattr(untemplate, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_documents_its_parameters(name: str) -> None:
    function = getattr(untemplate, name)
    text = inspect.getdoc(function) or ""
    parameters = inspect.signature(function).parameters
    assert [parameter for parameter in parameters if f"{parameter}:" not in text] == []
