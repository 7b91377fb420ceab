"""Errors: one tree, as drawn in its docstring, and messages that say what to do."""

from __future__ import annotations

import re

import pytest

from untemplate import MissingExtra, UntemplateError, errors


def drawn() -> dict[str, str | None]:
    """Each error of the drawing with the one it hangs on."""
    tree: dict[str, str | None] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := re.match(r"([│├└─ ]*)([A-Z]\w+(?:Error|Extra|Conflict))\b", line):
            depth, name = len(match[1]), match[2]
            above = [(d, n) for d, n in above if d < depth]
            tree[name] = above[-1][1] if above else None
            above.append((depth, name))
    return tree


def test_the_tree_is_as_drawn() -> None:
    tree = drawn()
    assert set(tree) == set(errors.__all__)
    for name, parent in tree.items():
        expected = getattr(errors, parent) if parent else Exception
        assert getattr(errors, name).__bases__[0] is expected


def test_a_missing_extra_says_which_to_install() -> None:
    error = MissingExtra("spark", "The Spark engine")
    assert str(error) == "The Spark engine is not installed. Run: pip install 'untemplate[spark]'"
    assert error.extra == "spark"
    with pytest.raises(UntemplateError):
        raise error
    assert isinstance(error, ImportError)
