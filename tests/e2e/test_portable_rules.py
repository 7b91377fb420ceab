"""The expressions of `rules show` work in the console of a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from untemplate import Attribute, Page, learn
from untemplate.demo import make_site
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.feature import Feature
from untemplate.rules.portable import portable_rule

BY_XPATH = """expression => {
    const found = document.evaluate(expression, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE, null);
    return Array.from({length: found.snapshotLength}, (_, index) => found.snapshotItem(index).textContent);
}"""
BY_CSS = "expression => Array.from(document.querySelectorAll(expression), element => element.textContent)"


def letters(text: str) -> str:
    """A text without white space: the text of an element has none where its parts meet in a browser."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Tab]:
    page = browser.new_page()
    yield page
    page.close()


@pytest.mark.parametrize("vertical", ["restaurant", "book"])
def test_the_console_finds_the_values(vertical: str, tab: Tab) -> None:
    site = make_site(vertical, seed=4, pages=12)
    few = list(site.truth)[:3]
    rules = learn(site.pages, [label for label in site.labels if label.page in few], site.schema)
    compared = 0
    for page in site.pages[:4]:
        record = rules.extract_one(page)
        wrapper = next(wrapper for wrapper in rules.wrappers if wrapper.cluster == record.cluster)
        tab.set_content(page.text)
        for name, rule in wrapper.rules.items():
            if name not in record.values or not rule.selects_one_node:
                continue
            expected = [value.text for value in record.values[name]]
            in_xpath = portable_rule(rule, site.schema.attributes[name], wrapper)
            assert in_xpath is not None
            texts = tab.evaluate(BY_XPATH, in_xpath.expression)
            assert [letters(text) for text in texts] == [letters(text) for text in expected], name
            in_css = portable_rule(rule, site.schema.attributes[name], wrapper, "css")
            if in_css and in_css.node == "text()":
                texts = " ".join(tab.evaluate(BY_CSS, in_css.expression))
                assert all(letters(text) in letters(texts) for text in expected), name
            compared += 1
    assert compared > 8


def test_rows_of_tables_get_a_body(tab: Tab) -> None:
    features = (Feature("class", 3, ("facts",)), Feature("tag", 1, ("td",)))
    rule = Rule("name", (Selector("text()", features),))
    page = Page(html="<table class=facts><tr><td>One<tr><td>Two</table>")
    wrapper = Wrapper("c1", (), 0, "*", {"name": rule})
    tab.set_content(page.text)
    for language, script in (("xpath", BY_XPATH), ("css", BY_CSS)):
        portable = portable_rule(rule, Attribute("name", many=True), wrapper, language)
        assert portable is not None
        assert tab.evaluate(script, portable.expression) == ["One", "Two"]
