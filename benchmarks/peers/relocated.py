"""Scrapling: a developer-tools XPath, and where it selects nothing the element most like the one saved."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from tempfile import mkdtemp

from scrapling.parser import Selector

from benchmarks.peers.reading import Example, clean, find_value

_URL = "https://example.com/"  # what is saved is kept per domain


def learn(examples: Sequence[Example]) -> Callable[[str], dict[str, str | None]]:
    """Save the element of each labelled value under its XPath."""
    logging.disable(logging.WARNING)
    storage = {"storage_file": f"{mkdtemp()}/saved.db", "url": _URL}
    places: dict[str, list[tuple[str, int]]] = {}
    for example in examples:
        page = _page(example.html, storage)
        for name, values in example.values.items():
            place = find_value(page._root, values)
            if place is None:
                continue
            element, number = place
            xpath = element.getroottree().getpath(element)
            page.xpath(xpath, identifier=f"{name} {xpath}", auto_save=True)
            places.setdefault(name, []).append((xpath, number))

    def extract(html: str) -> dict[str, str | None]:
        page = _page(html, storage)
        return {name: _first(page, name, own) for name, own in places.items()}

    return extract


def _page(html: str, storage: dict[str, str]) -> Selector:
    return Selector(html, url=_URL, adaptive=True, storage_args=storage)


def _first(page: Selector, name: str, places: Sequence[tuple[str, int]]) -> str | None:
    """Every XPath as it is, then every one relocated."""
    for adaptive in (False, True):
        for xpath, number in places:
            for element in page.xpath(xpath, identifier=f"{name} {xpath}", adaptive=adaptive):
                texts = [clean(str(text)) for text in element._root.xpath("text()")]
                text = texts[number - 1] if number <= len(texts) else ""
                if text := text or next(filter(None, texts), ""):
                    return text
    return None
