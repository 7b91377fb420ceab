"""The native core: pages as flat arrays, several times as fast as lxml. Without it, lxml does the same.

`core` is compiled when the package is installed. It parses a page into the tree that libxml2 builds, and selects
nodes on it. Its elements have the part of lxml's interface that extraction uses, so the code of `page` and `rules`
works with both; what is faster natively asks `is_native` first.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any

from lxml import etree

__all__ = ["MIN_LIBXML_VERSION", "core", "describe_core", "is_native"]


MIN_LIBXML_VERSION = (2, 14)
"""The core builds the trees of this version. Rules are learned on the trees of lxml, so these must be the same."""


def _load_core() -> ModuleType | None:
    """Return the compiled core; None if it was not compiled, or if lxml builds other trees."""
    if etree.LIBXML_VERSION < MIN_LIBXML_VERSION:
        return None
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
    if etree.LIBXML_VERSION < MIN_LIBXML_VERSION:
        return "without the native core, so slower: upgrade lxml to a version with libxml2 2.14"
    return "without the native core, so slower: reinstall untemplate on a machine with a C compiler"
