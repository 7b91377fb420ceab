"""Peers on today's detail pages: values are whole elements or lists of them, or come from the JSON-LD.

Each function needs only the library of its own peer, so it imports it itself.
"""

from __future__ import annotations

import html
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from tempfile import mkdtemp
from typing import Any

from benchmarks.peers.listing import ExtractLists, choose_xpaths, key, own_texts, text_of
from benchmarks.peers.reading import Example, clean

__all__ = ["LEARNERS"]

Item = dict[str, Any]
"""An object of JSON-LD."""

_URL = "https://example.com/"  # what Scrapling saves is kept per domain
# Where schema.org keeps what the schemas of the benchmark name differently.
_NAMES = {
    "title": ("name", "headline"),
    "ingredients": ("recipeIngredient", "ingredients"),
    "instructions_list": ("recipeInstructions",),
    "categories": ("category",),
}
_TAG = re.compile(r"<[^<>]*>")
_TYPES = ("Recipe", "Product", "ProductGroup")


def learn_copied(example: Example, tested: Sequence[Example], many: Sequence[str]) -> ExtractLists:
    """Copy absolute XPaths from a browser."""
    from parsel import Selector

    xpaths = choose_xpaths(example, tested, many)

    def extract(html: str) -> dict[str, list[str]]:
        page = Selector(html)
        return {name: [text_of(one.root) for one in page.xpath(xpath)] for name, xpath in xpaths.items()}

    return extract


def learn_scrapling(example: Example, tested: Sequence[Example], many: Sequence[str]) -> ExtractLists:
    """Save the elements of copied XPaths; where these select nothing, take the most similar element and its like."""
    from scrapling.parser import Selector

    logging.disable(logging.WARNING)
    storage = {"storage_file": f"{mkdtemp()}/saved.db", "url": _URL}
    xpaths = choose_xpaths(example, tested, many)
    labeled = Selector(example.html, url=_URL, adaptive=True, storage_args=storage)
    for name, xpath in xpaths.items():
        labeled.xpath(xpath, identifier=name, auto_save=True)

    def extract(html: str) -> dict[str, list[str]]:
        page = Selector(html, url=_URL, adaptive=True, storage_args=storage)
        texts: dict[str, list[str]] = {}
        for name, xpath in xpaths.items():
            found = list(page.xpath(xpath))
            if not found:
                found = list(page.xpath(xpath, identifier=name, adaptive=True))[:1]
                if found and name in many:
                    found += found[0].find_similar()
            texts[name] = [text_of(element._root) for element in found]
        return texts

    return extract


def learn_autoscraper(example: Example, tested: Sequence[Example], many: Sequence[str]) -> ExtractLists:
    """Build rules from the labeled texts; for each attribute, use what is right on most tested pages.

    That is one of its rules, or all of them together, as the library does by default.
    """
    import autoscraper.auto_scraper as library

    # The library writes ½ as 1⁄2, which would count as another text.
    library.normalize = lambda item: item.strip() if isinstance(item, str) else item
    scraper = library.AutoScraper()
    scraper.build(html=example.html, wanted_dict=own_texts(example))
    attributes = {stack["stack_id"]: stack["alias"] for stack in scraper.stack_list}
    attributes |= {name: name for name in attributes.values() if name in many}

    def results(html: str) -> dict[str, list[str]]:
        exact = scraper.get_result_exact(html=html, grouped=True)
        similar = scraper.get_result_similar(html=html, grouped=True, unique=False, keep_order=True)
        similar |= scraper.get_result_similar(html=html, group_by_alias=True, keep_order=True)
        chosen = {rule: (similar if name in many else exact).get(rule) for rule, name in attributes.items()}
        return {rule: [clean(str(text)) for text in texts] for rule, texts in chosen.items() if texts}

    hits: Counter[str] = Counter()
    for page in tested:
        for rule, texts in results(page.html).items():
            true = page.values.get(attributes[rule], ())
            hits[rule] += list(map(key, texts)) == list(map(key, true))
    best: dict[str, str] = {}
    for rule, name in attributes.items():
        if name not in best or hits[rule] > hits[best[name]]:
            best[name] = rule
    kept = set(best.values())
    scraper.keep_rules([rule for rule, name in attributes.items() if {rule, name} & kept])

    def extract(html: str) -> dict[str, list[str]]:
        found = results(html)
        return {name: found.get(rule, []) for name, rule in best.items()}

    return extract


def learn_extruct(example: Example, tested: Sequence[Example], many: Sequence[str]) -> ExtractLists:
    """Read the page's JSON-LD by name; the labeled page only says which attributes are wanted."""
    from extruct import JsonLdExtractor

    def extract(page: str) -> dict[str, list[str]]:
        try:
            items = list(_all_items(JsonLdExtractor().extract(page)))
        except ValueError:  # broken JSON
            return {}
        wanted = next(filter(_is_wanted, items), None)
        if wanted is None:
            return {}
        by_id = {item["@id"]: item for item in items if len(item) > 1 and isinstance(item.get("@id"), str)}
        texts: dict[str, list[str]] = {}
        for name in example.values:
            found = (_property_texts(wanted, other, by_id) for other in _NAMES.get(name, (name,)))
            texts[name] = next(filter(None, found), [])
            texts[name] = texts[name] if name in many else texts[name][:1]
        return texts

    return extract


def _all_items(data: Any) -> Iterator[Item]:
    if isinstance(data, list):
        for member in data:
            yield from _all_items(member)
    elif isinstance(data, dict):
        yield data
        for value in data.values():
            yield from _all_items(value)


def _is_wanted(item: Item) -> bool:
    types = item.get("@type")
    return any(one in _TYPES for one in (types if isinstance(types, list) else [types]))


def _property_texts(item: Item, name: str, by_id: Mapping[str, Item]) -> list[str]:
    if name == "price":
        offers = _all_items(item.get("offers"))
        return next(filter(None, (_texts(offer.get("price"), by_id) for offer in offers)), [])
    return _texts(item.get(name), by_id)


def _texts(value: Any, by_id: Mapping[str, Item]) -> list[str]:
    """Return the texts of a value: of steps their text, of sections their steps, of persons their name."""
    if isinstance(value, list):
        texts: list[str] = []
        for member in value:
            texts += _texts(member, by_id)
        return texts
    if isinstance(value, dict):
        inner = value.get("itemListElement") or value.get("text") or value.get("name")
        if inner is None and value.get("@id") in by_id:
            inner = by_id[value["@id"]].get("name")
        return _texts(inner, by_id)
    if value is None:
        return []
    text = clean(_TAG.sub(" ", html.unescape(str(value))))
    return [text] if text else []


LEARNERS = {
    "copied XPaths (parsel)": learn_copied,
    "Scrapling": learn_scrapling,
    "AutoScraper": learn_autoscraper,
    "extruct (JSON-LD by name)": learn_extruct,
}
"""The peers that can be run on today's detail pages."""
