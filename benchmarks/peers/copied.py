"""A person who copies XPaths from a browser's developer tools, one per labelled page, tried in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import lxml.html
from parsel import Selector

from benchmarks.peers.reading import Example, clean, find_value


def learn(examples: Sequence[Example]) -> Callable[[str], dict[str, str | None]]:
    """The absolute XPath of the first visible node with the value."""
    xpaths: dict[str, list[str]] = {}
    for example in examples:
        tree = lxml.html.document_fromstring(example.html)
        for name, values in example.values.items():
            if place := find_value(tree, values):
                element, number = place
                xpaths.setdefault(name, []).append(
                    f"{element.getroottree().getpath(element)}/text()[{number}]"
                )

    def extract(html: str) -> dict[str, str | None]:
        page = Selector(html)
        return {name: _first(page, own) for name, own in xpaths.items()}

    return extract


def _first(page: Selector, xpaths: Sequence[str]) -> str | None:
    for xpath in xpaths:
        text = clean(page.xpath(xpath).get() or "")
        if text:
            return text
    return None
