"""scrapely: instance-based learning over annotated pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from scrapely import Scraper
from scrapely.htmlpage import HtmlPage
from scrapely.template import FragmentAlreadyAnnotated, FragmentNotFound, TemplateMaker, best_match

from benchmarks.peers.reading import Example, Extract, clean

_URL = "https://example.com/"
_TAG = re.compile(r"<[^>]*>")


def learn(examples: Sequence[Example], tested: Sequence[Example]) -> Extract:
    """A template per labeled page, of those values that it can annotate there.

    It marks whole elements; which piece of an element is the value is learned from the labeled pages, for it.
    """
    scraper = Scraper()
    for example in examples:
        maker = TemplateMaker(HtmlPage(url=_URL, body=example.html))
        for name, values in example.values.items():
            try:
                maker.annotate(name, best_match(values[0]))
            except (FragmentNotFound, FragmentAlreadyAnnotated):
                continue
        scraper.add_template(maker.get_template())
    pieces: dict[str, int] = {}
    for example in examples:
        for name, found in _scrape(scraper, example.html).items():
            right = [number for number, piece in enumerate(found) if piece in example.values.get(name, ())]
            pieces.setdefault(name, right[0] if right else 0)

    def extract(html: str) -> dict[str, str | None]:
        found = _scrape(scraper, html)
        return {
            name: texts[pieces[name]] if pieces.get(name, 0) < len(texts) else texts[0]
            for name, texts in found.items()
            if texts and name in pieces
        }

    return extract


def _scrape(scraper: Scraper, html: str) -> dict[str, list[str]]:
    """Per attribute the texts between the tags of what it found first."""
    scraped = scraper.scrape_page(HtmlPage(url=_URL, body=html)) or [{}]
    pieces = {name: map(clean, _TAG.split(found[0])) for name, found in scraped[0].items() if found}
    return {name: [text for text in texts if text] for name, texts in pieces.items()}
