"""XPaths of elements, and the nodes that an XPath selects.

`element_xpath` writes the XPath of one element. It counts the siblings before the element, which takes quadratic
time for all rows of a long list; `NumberedXPaths` writes those of many elements in linear time. `nodes_at` is the
one function that reads an XPath.
"""

from __future__ import annotations

import re
from collections import Counter

from lxml import etree

__all__ = ["NumberedXPaths", "attribute_step", "element_xpath", "nodes_at"]

# Names that XPath can contain as they are. The HTML parser also accepts names such as `a"b`.
_SAFE_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_UNSAFE = re.compile(r"[^\w.\-/\[\]]", re.ASCII)


def element_xpath(element: etree._Element) -> str:
    """Return the absolute XPath of an element.

    Tags that XPath cannot name become `*` with a number.

    >>> from lxml import etree
    >>> element_xpath(etree.HTML("<p>1<p>2")[0][1])
    '/html/body/p[2]'
    """
    path: str = element.getroottree().getpath(element)
    if not _UNSAFE.search(path):
        return path
    steps: list[str] = []
    while element is not None:
        steps.append(_step(element))
        element = element.getparent()
    return "/" + "/".join(reversed(steps))


def _step(element: etree._Element) -> str:
    """Return the step of an XPath that selects this element among its siblings."""
    tag = element.tag
    if not _SAFE_NAME.fullmatch(tag):
        before = sum(1 for _ in element.itersiblings("*", preceding=True))
        return f"*[{before + 1}]"
    before = sum(1 for _ in element.itersiblings(tag, preceding=True))
    is_only_one = not before and next(element.itersiblings(tag), None) is None
    return tag if is_only_one else f"{tag}[{before + 1}]"


def attribute_step(name: str) -> str:
    """Return the step of an XPath that selects the attribute of this name."""
    return f"@{name}" if _SAFE_NAME.fullmatch(name) else f"@*[name()={name!r}]"


def nodes_at(root: etree._Element, xpath: str) -> list[tuple[etree._Element, str]]:
    """Return the element and the kind of each node that an XPath selects.

    Kinds are those of `Node`: "element", "text", "tail" or "@name".

    Returns:
        The nodes in document order. Empty if the text is no XPath, or an XPath of something else than nodes.
    """
    try:
        results = root.xpath(xpath, smart_strings=True)
    except etree.XPathError:
        return []
    if not isinstance(results, list):
        return []
    nodes: list[tuple[etree._Element, str]] = []
    for result in results:
        if isinstance(result, etree._Element):
            nodes.append((result, "element"))
        elif isinstance(result, etree._ElementUnicodeResult):
            nodes.append((result.getparent(), _string_kind(result)))
    return nodes


def _string_kind(result: etree._ElementUnicodeResult) -> str:
    if result.is_attribute:
        return f"@{result.attrname}"
    return "tail" if result.is_tail else "text"


class NumberedXPaths:
    """The absolute XPaths of many elements of a page, in time linear in the page; every step has its number."""

    def __init__(self) -> None:
        self._steps: dict[etree._Element, str] = {}
        self._paths: dict[etree._Element, str] = {}

    def xpath(self, element: etree._Element) -> str:
        """Return the XPath of an element, such as `/html/body[1]/p[2]`."""
        waiting: list[etree._Element] = []
        ancestor = element
        while ancestor is not None and ancestor not in self._paths:
            waiting.append(ancestor)
            ancestor = ancestor.getparent()
        path = "" if ancestor is None else self._paths[ancestor]
        for inner in reversed(waiting):
            path = f"{path}/{self._numbered_step(inner)}"
            if inner is not element:
                self._paths[inner] = path
        return path

    def _numbered_step(self, element: etree._Element) -> str:
        parent = element.getparent()
        if parent is None:
            return "html"
        if element not in self._steps:
            self._number_children(parent)
        return self._steps[element]

    def _number_children(self, parent: etree._Element) -> None:
        counts: Counter[str] = Counter()
        for number, child in enumerate(parent.iterchildren(etree.Element), 1):
            counts[child.tag] += 1
            is_safe = _SAFE_NAME.fullmatch(child.tag)
            self._steps[child] = f"{child.tag}[{counts[child.tag]}]" if is_safe else f"*[{number}]"
