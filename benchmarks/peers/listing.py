"""Values as whole elements, and lists of them: where they are on a page, by letters and digits.

For pages whose true values were cleaned up by other programs, and whose values are not single text nodes. Imports
nothing of untemplate.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import lxml.html
from lxml import etree

from benchmarks.peers.reading import Example, clean

__all__ = ["ExtractLists", "Places", "choose_xpaths", "find_elements", "key", "own_texts", "text_of"]

ExtractLists = Callable[[str], dict[str, list[str]]]
"""HTML to the texts of each attribute."""

Places = Mapping[str, str]
"""Attribute → XPath"""

_HIDDEN = frozenset({"head", "noscript", "script", "style", "template", "title"})
# More places than this of one value are navigation and lists.
_MAX_PLACES = 20
_NUMBER = re.compile(r"\[\d+\]")


def key(text: str) -> str:
    """Return the letters and digits of a text in lower case."""
    return re.sub(r"[\W_]+", "", text).lower()


def text_of(element: Any) -> str:
    """Return the text of an element, with spaces between its texts."""
    return clean(" ".join(element.itertext()))


def find_elements(tree: etree._Element, values: Sequence[str]) -> list[list[etree._Element]]:
    """Return for each value the innermost visible elements with exactly its letters and digits."""
    found: dict[str, list[etree._Element]] = {key(value): [] for value in values}
    longest = max(map(len, found), default=0)
    for element in _visible_elements(tree):
        # texts have white space and punctuation, too; far longer ones need not be compared
        own = key("".join(_texts_up_to(element, 4 * longest + 1000)))
        if own in found:
            same = found[own]
            if same and same[-1] is element.getparent():
                same.pop()
            same.append(element)
    return [found[key(value)][:_MAX_PLACES] for value in values]


def _visible_elements(tree: etree._Element) -> list[etree._Element]:
    hidden: set[etree._Element] = set()
    visible = []
    for element in tree.iter(etree.Element):
        if element.tag in _HIDDEN or element.getparent() in hidden:
            hidden.add(element)
        else:
            visible.append(element)
    return visible


def _texts_up_to(element: etree._Element, length: int) -> list[str]:
    texts, total = [], 0
    for text in element.itertext():
        texts.append(text)
        total += len(text.strip())
        if total > length:
            break
    return texts


def own_texts(example: Example) -> dict[str, list[str]]:
    """Return the labeled values as the page writes them, white space included, as AutoScraper compares them.

    Values that no element has stay as they are.
    """
    tree = lxml.html.document_fromstring(example.html)
    texts: dict[str, list[str]] = {}
    for name, values in example.values.items():
        elements = find_elements(tree, values)
        texts[name] = [
            places[0].text_content().strip() if places else value
            for value, places in zip(values, elements, strict=True)
        ]
    return texts


def choose_xpaths(example: Example, tested: Sequence[Example], many: Sequence[str]) -> dict[str, str]:
    """Return an absolute XPath for each labeled attribute: of its places the one that is right on most tested pages.

    Generous: a person sees which of several places is meant, but no person sees the tested pages. The XPath of a list
    lacks the numbers in which its members differ.
    """
    tree = lxml.html.document_fromstring(example.html)
    candidates: dict[str, list[str]] = {}
    for name, values in example.values.items():
        elements = find_elements(tree, values)
        candidates[name] = _list_xpaths(elements) if name in many else [_path(one) for one in elements[0]]
    hits: Counter[tuple[str, str]] = Counter()
    for page in tested:
        root = lxml.html.document_fromstring(page.html)
        for name, xpaths in candidates.items():
            true = [key(value) for value in page.values.get(name, ())]
            for xpath in xpaths:
                hits[name, xpath] += [key(text_of(element)) for element in root.xpath(xpath)] == true
    return {
        name: max(xpaths, key=lambda xpath, name=name: hits[name, xpath])  # type: ignore[misc]
        for name, xpaths in candidates.items()
        if xpaths
    }


def _path(element: etree._Element) -> str:
    path: str = element.getroottree().getpath(element)
    return path


def _list_xpaths(members: Sequence[Sequence[etree._Element]]) -> list[str]:
    """Return XPaths for the elements of several values, the one that covers most values first."""
    groups: defaultdict[str, dict[int, list[str]]] = defaultdict(dict)
    for number, places in enumerate(members):
        paths = dict.fromkeys(map(_path, places))
        for path in paths:
            # of several places of one value at the same tag path the first
            groups[_NUMBER.sub("", path)].setdefault(number, path.split("/"))
    ordered = sorted(groups.values(), key=lambda group: -len(group))
    return [_common_xpath(list(group.values())) for group in ordered[:_MAX_PLACES]]


def _common_xpath(paths: Sequence[Sequence[str]]) -> str:
    steps = []
    for step in zip(*paths, strict=True):
        is_same = all(first == second for first, second in pairwise(step))
        steps.append(step[0] if is_same else _NUMBER.sub("", step[0]))
    return "/".join(steps)
