"""scrapely: instance-based learning over annotated pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scrapely import Scraper
from scrapely.htmlpage import HtmlPage
from scrapely.template import FragmentNotFound
from w3lib.html import remove_tags

from benchmarks.peers.reading import Example, clean


def learn(examples: Sequence[Example]) -> Callable[[str], dict[str, str | None]]:
    """A template per labelled page; values it cannot find in the HTML are left out of it."""
    scraper = Scraper()
    for example in examples:
        page = HtmlPage(url="https://example.com/", body=example.html)
        values = {
            name: values[0] for name, values in example.values.items() if _is_found(page, name, values[0])
        }
        scraper.train_from_htmlpage(page, values)

    def extract(html: str) -> dict[str, str | None]:
        scraped = scraper.scrape_page(HtmlPage(url="https://example.com/", body=html)) or [{}]
        texts = {name: clean(remove_tags(found[0])) for name, found in scraped[0].items() if found}
        return {name: text or None for name, text in texts.items()}

    return extract


def _is_found(page: HtmlPage, name: str, value: str) -> bool:
    try:
        Scraper().train_from_htmlpage(page, {name: value})
    except FragmentNotFound:
        return False
    return True
