"""A person who copies absolute XPaths from a browser, one per labeled page, tried in order."""

from __future__ import annotations

from collections.abc import Sequence

from parsel import Selector

from benchmarks.peers.reading import Example, Extract, choose_places, clean


def learn(examples: Sequence[Example], tested: Sequence[Example]) -> Extract:
    """The absolute XPath of each labeled value."""
    xpaths: dict[str, list[str]] = {}
    for places in choose_places(examples, tested):
        for name, place in places.items():
            xpaths.setdefault(name, []).append(place.text_xpath)

    def extract(html: str) -> dict[str, str | None]:
        page = Selector(html)
        return {name: first_text(page, own) for name, own in xpaths.items()}

    return extract


def first_text(page: Selector, xpaths: Sequence[str]) -> str | None:
    """The text that the first of these selects that selects any."""
    for xpath in xpaths:
        text = clean(page.xpath(xpath).get() or "")
        if text:
            return text
    return None
