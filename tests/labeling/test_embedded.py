"""What a page says of itself becomes labels, as far as it can be seen."""

from __future__ import annotations

import json

import pytest

from untemplate import Page, Schema
from untemplate.demo import make_site
from untemplate.labeling import EmbeddedLabeler
from untemplate.labeling.embedded import embedded_properties

BOOK = Schema.load("book")


def page(head: str = "", body: str = "") -> Page:
    return Page(
        "http://a.example/1", f"<html><head><title>T</title>{head}</head><body>{body}</body></html>", "1"
    )


def script(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def labeled(one: Page, schema: Schema = BOOK) -> dict[str, str | None]:
    return {label.attribute: label.value for label in EmbeddedLabeler(schema).label([one])}


def test_json_ld_names_what_is_seen() -> None:
    data = {
        "@type": "Book",
        "name": "Emma",
        "author": {"@type": "Person", "name": "Jane Austen"},
        "isbn": "9780141439587",
    }
    one = page(script(data), "<h1>Emma</h1><p>by <a>Jane  Austen</a></p><p>978-0-14-143958-7</p>")
    assert labeled(one) == {"title": "Emma", "author": "Jane Austen", "isbn_13": "978-0-14-143958-7"}


def test_what_is_not_on_the_page_is_not_labeled() -> None:
    assert labeled(page(script({"name": "Emma", "publisher": "Penguin"}), "<h1>Emma</h1>")) == {
        "title": "Emma"
    }


def test_microdata_and_open_graph() -> None:
    body = '<div itemscope itemtype="http://schema.org/Book"><b itemprop="publisher">Penguin</b></div><h1>Emma</h1>'
    assert labeled(page('<meta property="og:title" content="Emma">', body)) == {
        "title": "Emma",
        "publisher": "Penguin",
    }


def test_labels_pin_their_nodes() -> None:
    one = page(script({"name": "Emma"}), "<p>other</p><h1>Emma</h1>")
    (label,) = EmbeddedLabeler(BOOK).label([one])
    assert one.tree.xpath(label.xpath) == ["Emma"]
    assert label.source == "embedded"


@pytest.mark.parametrize(
    "head",
    [
        "",
        '<script type="application/ld+json">{"name": </script>',
        script([1, [2], None]),
        script({"@graph": 3, "name": {}}),
    ],
)
def test_odd_data_is_left_out(head: str) -> None:
    assert labeled(page(head, "<h1>Emma</h1>")) == {}


def test_deep_data_ends() -> None:
    data: object = {"name": "Emma"}
    for _ in range(50):
        data = {"about": data}
    assert embedded_properties(page(script(data))) == {}


def test_pages_that_cannot_be_read_have_no_labels() -> None:
    assert EmbeddedLabeler(BOOK).label([Page("http://a.example/", b"", "1")]) == []


def test_made_up_sites_tell_the_truth() -> None:
    """Of the sites of a vertical some have embedded data, and what they say is true."""
    said = 0
    for number in range(8):
        site = make_site("movie", number, 12)
        for label in EmbeddedLabeler(site.schema).label([one for one in site.pages if one.id in site.truth]):
            said += 1
            assert any(true in (label.value or "") for true in site.truth[label.page][label.attribute])
    assert said > 10
