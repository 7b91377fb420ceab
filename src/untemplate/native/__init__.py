"""The native core: pages as flat arrays, several times as fast as lxml. Without it, lxml does the same.

`core` is compiled when the package is installed. It parses a page into the tree that libxml2 builds, and selects
nodes on it. Its elements have the part of lxml's interface that extraction uses, so the code of `page` and `rules`
works with both; what is faster natively asks `is_native` first.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["core", "describe_core", "is_native"]


def _load_core() -> ModuleType | None:
    """Return the compiled core; None if it was not compiled for this Python."""
    try:
        return import_module("untemplate.native.core")
    except ImportError:
        return None


core = _load_core()
"""The compiled module; None if there is none."""

_ELEMENT_TYPES: tuple[type[Any], ...] = (core.Element,) if core else ()


def is_native(element: Any) -> bool:
    """Return True for an element of the native core, False for one of lxml."""
    return isinstance(element, _ELEMENT_TYPES)


def describe_core() -> str:
    """Return one line for people: whether the native core is used."""
    if core:
        return "native core"
    return "without the native core, so slower: reinstall untemplate on a machine with a C compiler"
