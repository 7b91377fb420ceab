"""The truth really stands on the pages, outside of what repeats it."""

from __future__ import annotations

import re
from collections import Counter

from tests.demo.silence import quiet
from untemplate.demo import Site, make_site
from untemplate.page import Page


def how_found(page: Page, value: str) -> str:
    """As a whole node, part of one, over several, or not at all."""
    texts = [node.text for node in page.nodes if not node.is_attribute]
    if value in texts:
        return "node"
    if any(value == node.text for node in page.nodes):
        return "attribute"
    if any(value in text for text in texts):
        return "part"
    for start, text in enumerate(texts):
        if value.startswith(text):
            joined = text
            for following in texts[start + 1 : start + 5]:
                joined += " " + following
                if joined == value:
                    return "span"
    return "nowhere"


def test_every_value_is_on_its_page(sites: list[Site]) -> None:
    ways: Counter[str] = Counter()
    for site in sites:
        for page in site.pages:
            silent = quiet(page)
            for attribute, values in site.truth.get(page.id, {}).items():
                for value in values:
                    way = how_found(silent, value)
                    assert way != "nowhere", (site.name, page.id, attribute, value)
                    ways[way] += 1
    assert {"node", "part", "span", "attribute"} <= set(ways)
    assert ways["node"] > ways["part"] > 0


def test_many_values_stand_in_order(sites: list[Site]) -> None:
    checked = 0
    for site in sites:
        for page in site.pages:
            for values in site.truth.get(page.id, {}).values():
                if len(values) > 2:
                    texts = [node.text for node in quiet(page).nodes]
                    start = next(
                        i
                        for i, text in enumerate(texts)
                        if text == values[0] and values[1] in texts[i : i + 5]
                    )
                    rest = iter(texts[start:])
                    assert all(value in rest for value in values), (site.name, page.id, values)
                    checked += 1
    assert checked > 100


def test_rows_of_lists_are_whole_nodes_in_order(sites: list[Site]) -> None:
    for site in sites:
        for page in site.pages:
            rows = site.rows.get(page.id, [])
            texts = iter([node.text for node in quiet(page).nodes])
            head = next(iter(site.schema.attributes))
            assert all(row[head] in texts for row in rows)
            assert all(how_found(page, text) == "node" for row in rows for text in row.values())
            assert not rows or 10 <= len(rows) <= 20


def test_missing_values_are_missing_from_the_page() -> None:
    """What a page lacks is not in its labeled place either: a label there has nothing behind it."""
    for seed in range(20):
        site = make_site("book", seed, pages=20)
        for page in site.pages:
            if site.truth.get(page.id, {}).get("isbn_13") == []:
                assert not re.search(r"\b978-?\d{10}\b", " ".join(node.text for node in page.nodes))
