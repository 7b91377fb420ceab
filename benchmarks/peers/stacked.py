"""AutoScraper: stacks of tags and attributes from the wanted texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autoscraper import AutoScraper

from benchmarks.peers.reading import Example, clean


def learn(examples: Sequence[Example]) -> Callable[[str], dict[str, str | None]]:
    """All true values wanted; of what comes out exactly, the first."""
    scraper = AutoScraper()
    for number, example in enumerate(examples):
        scraper.build(html=example.html, wanted_dict=example.values, update=number > 0)

    def extract(html: str) -> dict[str, str | None]:
        found = scraper.get_result_exact(html=html, group_by_alias=True)
        return {name: clean(str(texts[0])) for name, texts in found.items() if texts}

    return extract
