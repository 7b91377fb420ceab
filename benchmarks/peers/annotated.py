"""scrapely: instance-based learning over annotated pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scrapely import Scraper
from scrapely.htmlpage import HtmlPage
from scrapely.template import FragmentAlreadyAnnotated, FragmentNotFound, TemplateMaker, best_match
from w3lib.html import remove_tags

from benchmarks.peers.reading import Example, clean

_URL = "https://example.com/"


def learn(examples: Sequence[Example]) -> Callable[[str], dict[str, str | None]]:
    """A template per labelled page, of those values that it can annotate there."""
    scraper = Scraper()
    for example in examples:
        maker = TemplateMaker(HtmlPage(url=_URL, body=example.html))
        for name, values in example.values.items():
            try:
                maker.annotate(name, best_match(values[0]))
            except (FragmentNotFound, FragmentAlreadyAnnotated):
                continue  # it marks whole elements, each once
        scraper.add_template(maker.get_template())

    def extract(html: str) -> dict[str, str | None]:
        scraped = scraper.scrape_page(HtmlPage(url=_URL, body=html)) or [{}]
        texts = {name: clean(remove_tags(found[0])) for name, found in scraped[0].items() if found}
        return {name: text or None for name, text in texts.items()}

    return extract
