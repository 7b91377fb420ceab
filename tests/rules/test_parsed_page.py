"""The native core gives what lxml gives: the same values at the same places."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.made_up_sites import learned_site
from tests.rules.trees import features_of, html_trees
from untemplate import Attribute, Page, Rules
from untemplate.learning import SampleTable
from untemplate.native import core, is_native
from untemplate.page import Signature
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.applying import Match, apply_rule
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.rule import Region

ANY = Signature((None,) * 8)

pytestmark = pytest.mark.skipif(
    core is None or etree.LIBXML_VERSION < (2, 14),
    reason="needs the native core, and libxml2 2.14 to compare with",
)


def assert_same(rules: Rules, page: Page) -> None:
    """Compare the record of the native core with that of lxml."""
    plain = Page(page.url, page.html, page.id, charset=page.charset)
    if plain.why_unreadable() is None:
        assert is_native(Page(html=page.html).root)
    record = rules.extract_one(Page(page.url, page.html, page.id, charset=page.charset))
    assert record == rules.extract_one(plain)
    for values in record.values.values():
        on_page = [value for value in values if "#embedded" not in value.rule]
        assert all(len(plain.tree.xpath(value.xpath)) == 1 for value in on_page)


@cache
def site_of(vertical: str, seed: int) -> tuple[Rules, list[Page]]:
    site, rules = learned_site(vertical, seed)
    wrappers = tuple(replace(one, signatures=(ANY,), url_pattern="*") for one in rules.wrappers if one.rules)
    return replace(rules, wrappers=wrappers), site.pages[:12]


@pytest.mark.parametrize("vertical", ["restaurant", "book", "recipe", "product"])
@pytest.mark.parametrize("seed", [0, 1])
def test_records_of_a_site_are_the_same(vertical: str, seed: int) -> None:
    rules, pages = site_of(vertical, seed)
    for page in pages:
        assert_same(rules, page)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_records_of_damaged_pages_are_the_same(data: st.DataObject) -> None:
    rules, pages = site_of(data.draw(st.sampled_from(("restaurant", "book"))), data.draw(st.integers(0, 1)))
    html = data.draw(st.sampled_from(pages)).html
    first, second = sorted(data.draw(st.tuples(*[st.integers(0, len(html))] * 2)))
    shape = data.draw(st.sampled_from(("doubled", "without", "noise")))
    if shape == "doubled":
        html = html[:second] + html[first:]
    elif shape == "without":
        html = html[:first] + html[second:]
    else:
        html = html[:first] + data.draw(st.binary(max_size=20)) + html[first:]
    assert_same(rules, Page("http://x.example/", html, "1"))


@given(html_trees, st.data())
@settings(max_examples=400, deadline=None)
def test_any_rule_on_any_page(html: str, data: st.DataObject) -> None:
    table = SampleTable([Page(html=html)])
    rows = [row for row, node in enumerate(table.rows) if node.is_text or node.is_attribute]
    selectors = []
    for _ in range(data.draw(st.integers(1, 3))):
        row = data.draw(st.sampled_from(rows))
        features = data.draw(st.lists(st.sampled_from(features_of(table, row)), max_size=3, unique=True))
        node = table.rows[row].kind if table.rows[row].is_attribute else "text()"
        node = data.draw(st.sampled_from((node, "element()"))) if node == "text()" else node
        position = data.draw(st.sampled_from((0, 0, 1, 2, -1)))
        selectors.append(Selector(node, tuple(features), position, 1.0, _draw_region(table, rows, data)))
    first, *members = selectors
    attribute = Attribute("name", many=data.draw(st.booleans()))
    wrapper = Wrapper("c", (), 1, "*", {"name": Rule("name", (first,), tuple(members))}, tuple(table.static))
    plain = apply_rule(wrapper.rules["name"], table.pages[0].tree, wrapper, attribute)
    native = apply_rule(wrapper.rules["name"], Page(html=html).root, wrapper, attribute)
    assert [_known(one) for one in native] == [_known(one) for one in plain]


def _draw_region(table: SampleTable, rows: list[int], data: st.DataObject) -> Region | None:
    """Return a region around some node, or none."""
    if data.draw(st.integers(0, 3)):
        return None
    features = features_of(table, data.draw(st.sampled_from(rows)))
    structural = [feature for feature in features if feature.is_structural and feature.level == 2]
    if not structural:
        return None
    chosen = replace(data.draw(st.sampled_from(structural)), level=1)
    return Region((chosen,), data.draw(st.sampled_from((0, 1, -1))))


def _known(found: Match) -> tuple[str, str, str, float]:
    return found.node.numbered_xpath, found.text, found.rule, found.confidence


@pytest.mark.parametrize("text", ["Leek soup", "leeksoup", "soup, hot", "nowhere", "hidden"])
def test_what_a_page_shows(text: str) -> None:
    html = (
        "<title>Leek soup</title><p>Leek <b>so</b>up, hot<script>nowhere</script><noscript>hidden</noscript>"
    )
    native, plain = ParsedPage(Page(html=html).root), ParsedPage(Page(html=html).tree)
    assert native.shows(text) == plain.shows(text)
    assert native.has_title_with(text) == plain.has_title_with(text)
