"""AutoScraper: stacks of tags and attributes from the wanted texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from autoscraper import AutoScraper

from benchmarks.peers.reading import Example, Extract, clean


def learn(examples: Sequence[Example], tested: Sequence[Example]) -> Extract:
    """A scraper per labeled page; of its rules for an attribute, the one that is right on most tested pages."""
    scrapers = [_build(example) for example in examples]
    chosen = [_choose(scraper, tested) for scraper in scrapers]
    for scraper, rules in zip(scrapers, chosen, strict=True):
        scraper.keep_rules(list(rules.values()))

    def extract(html: str) -> dict[str, str | None]:
        texts: dict[str, str | None] = {}
        for scraper, rules in zip(scrapers, chosen, strict=True):
            found = _texts(scraper, html)
            for name, rule in rules.items():
                texts[name] = texts.get(name) or found.get(rule)
        return texts

    return extract


def _build(example: Example) -> AutoScraper:
    scraper = AutoScraper()
    scraper.build(html=example.html, wanted_dict=example.values)
    return scraper


def _choose(scraper: AutoScraper, tested: Sequence[Example]) -> dict[str, str]:
    hits: Counter[str] = Counter()
    alias = {stack["stack_id"]: stack["alias"] for stack in scraper.stack_list}
    for example in tested:
        for rule, text in _texts(scraper, example.html).items():
            hits[rule] += text in example.values.get(alias[rule], ())
    best: dict[str, str] = {}
    for rule, name in alias.items():
        if name not in best or hits[rule] > hits[best[name]]:
            best[name] = rule
    return best


def _texts(scraper: AutoScraper, html: str) -> dict[str, str]:
    found = scraper.get_result_exact(html=html, grouped=True)
    return {rule: clean(str(texts[0])) for rule, texts in found.items() if texts}
