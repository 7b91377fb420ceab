"""Scripts that contain data, and the keys of data as paths name them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from lxml import etree

from untemplate.native import core, is_native
from untemplate.page.dom import squeeze
from untemplate.page.embedded_formats import parse_assignments, parse_json, resolve_nuxt

__all__ = ["FLIGHT", "MAX_KEY_LENGTH", "DataScript", "find_linked_data", "generalize_key"]

FLIGHT = "__next_f"
"""The name of the data that Next.js streams."""

_NUXT = "__NUXT_DATA__"
# What the type of a script with JSON-LD contains, in lower case.
_LINKED_DATA_TYPE = "ld+json"

MAX_KEY_LENGTH = 200
"""Longer keys are cut off."""

_KEY_ARGUMENTS = re.compile(r"\(.*\)$", re.DOTALL)
# Parts of a key that are different on each page: numbers, hashes, the ids of a database.
_ID_PART = re.compile(r"(?=[0-9A-Fa-f-]*\d)[0-9A-Fa-f]{8}(?:-?[0-9A-Fa-f]{4,})*|\d{2,}")


@lru_cache(maxsize=4096)
def generalize_key(key: str) -> str:
    """Return a key with `*` for what is different on each page: ids, and the arguments of a query.

    >>> generalize_key("Recipe:18422"), generalize_key('recipe({"slug":"soup"})'), generalize_key("h1")
    ('Recipe:*', 'recipe(*)', 'h1')
    """
    if key.isalpha():
        return key
    return _ID_PART.sub("*", _KEY_ARGUMENTS.sub("(*)", key[:MAX_KEY_LENGTH]))


class DataScript:
    """A script that may contain data.

    Attributes:
        kind: `ld` for JSON-LD, `json` for other JSON, and `js` for programs.
        name: what the page calls other JSON; empty for the others.
    """

    def __init__(self, element: etree._Element) -> None:
        self._element = element
        self.kind = _kind_of_script((element.get("type") or "").lower())
        self.name = ""
        if self.kind == "json":
            name = element.get("id") or element.get("data-name") or element.get("class") or "json"
            self.name = generalize_key(squeeze(name))

    @property
    def text(self) -> str:
        return self._element.text or ""

    def state_names(self) -> Iterable[str]:
        """Return the names of the application state in this script."""
        if self.kind == "json":
            return [self.name]
        if self.kind != "js":
            return []
        text = self.text
        if FLIGHT in text:
            return [FLIGHT]
        return [variable for variable, _ in parse_assignments(text)]

    def read_state(self, name: str) -> Iterable[Any]:
        """Return the application state of this name."""
        if self.kind == "json" and self.name == name:
            content = parse_json(self.text)
            return [resolve_nuxt(content) if name == _NUXT else content]
        if self.kind == "js" and name in (text := self.text):
            return [content for variable, content in parse_assignments(text) if variable == name]
        return []


def find_linked_data(tree: etree._Element) -> list[str]:
    """Return the texts of the scripts with JSON-LD."""
    if is_native(tree):
        texts: list[str] = core.texts_of_type(tree, "script", _LINKED_DATA_TYPE)  # type: ignore[union-attr]
        return texts
    return [script.text or "" for script in tree.iter("script") if _is_linked_data(script.get("type") or "")]


def _is_linked_data(type_: str) -> bool:
    """Return True for the type of a script with JSON-LD."""
    return _LINKED_DATA_TYPE in type_.lower()


def _kind_of_script(type_: str) -> str:
    if "json" not in type_:
        return "js"
    return "ld" if _is_linked_data(type_) else "json"
