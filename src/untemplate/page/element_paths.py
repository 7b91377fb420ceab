"""Paths: the XPaths of many elements of a page, in time linear in the page.

`element_xpath` counts the siblings before an element, which is quadratic for all rows of a long list.
"""

from __future__ import annotations

import re
from collections import Counter

from lxml import etree

__all__ = ["Paths"]

_SAFE_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


class Paths:
    """Gives each element its absolute XPath; every step has its number."""

    def __init__(self) -> None:
        self._steps: dict[etree._Element, str] = {}
        self._paths: dict[etree._Element, str] = {}

    def xpath(self, element: etree._Element) -> str:
        waiting: list[etree._Element] = []
        around = element
        while around is not None and around not in self._paths:
            waiting.append(around)
            around = around.getparent()
        path = "" if around is None else self._paths[around]
        for inner in reversed(waiting):
            path = f"{path}/{self._step(inner)}"
            if inner is not element:
                self._paths[inner] = path
        return path

    def _step(self, element: etree._Element) -> str:
        parent = element.getparent()
        if parent is None:
            return "html"
        if element not in self._steps:
            counts: Counter[str] = Counter()
            for number, child in enumerate(parent.iterchildren(etree.Element), 1):
                counts[child.tag] += 1
                is_safe = _SAFE_NAME.fullmatch(child.tag)
                self._steps[child] = f"{child.tag}[{counts[child.tag]}]" if is_safe else f"*[{number}]"
        return self._steps[element]
