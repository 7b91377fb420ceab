"""Scrapling: a developer-tools XPath, and where it selects nothing the element most like the one saved."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from tempfile import mkdtemp

from scrapling.parser import Selector

from benchmarks.peers.reading import Example, Extract, Place, choose_places, clean

_URL = "https://example.com/"  # what is saved is kept per domain


def learn(examples: Sequence[Example], tested: Sequence[Example]) -> Extract:
    """Save the element of each labeled value under its XPath."""
    logging.disable(logging.WARNING)
    storage = {"storage_file": f"{mkdtemp()}/saved.db", "url": _URL}
    places: dict[str, list[Place]] = {}
    for example, chosen in zip(examples, choose_places(examples, tested), strict=True):
        page = _page(example.html, storage)
        for name, place in chosen.items():
            page.xpath(place.xpath, identifier=f"{name} {place.xpath}", auto_save=True)
            places.setdefault(name, []).append(place)

    def extract(html: str) -> dict[str, str | None]:
        page = _page(html, storage)
        return {name: _first(page, name, own) for name, own in places.items()}

    return extract


def _page(html: str, storage: dict[str, str]) -> Selector:
    return Selector(html, url=_URL, adaptive=True, storage_args=storage)


def _first(page: Selector, name: str, places: Sequence[Place]) -> str | None:
    """Every XPath as it is, then every one relocated."""
    for adaptive in (False, True):
        for place in places:
            for element in page.xpath(place.xpath, identifier=f"{name} {place.xpath}", adaptive=adaptive):
                texts = [clean(str(text)) for text in element._root.xpath("text()")]
                text = texts[place.number - 1] if place.number <= len(texts) else ""
                if text := text or next(filter(None, texts), ""):
                    return text
    return None
