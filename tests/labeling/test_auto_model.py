"""The default method: what seed sites taught and what the page's data say, together."""

from __future__ import annotations

from untemplate import Attribute, Finding, Page, Schema
from untemplate.labeling import EmbeddedLabeler
from untemplate.labeling.auto_model import agreement, combine_findings

SCHEMA = Schema("book", {"title": Attribute("title", same_as=("name",)), "author": Attribute("author")})
HTML = (
    '<script type="application/ld+json">{{"@type": "Book", "name": "{0}", "author": {{"name": "{1}"}}}}</script>'
    "<h1>{0}</h1><p>by <b>{1}</b></p><i>Also: Persuasion</i>"
)
PAGES = [
    Page(id=title, html=f"<html><body>{HTML.format(title, author)}</body></html>")
    for title, author in (("Emma", "Jane Austen"), ("Ulysses", "James Joyce"), ("Dubliners", "J. Joyce"))
]


def find_texts(attribute: str, confidence: float, texts: list[str], found: bool = True) -> Finding:
    """Return a finding at the nodes with these texts, one on each page."""
    places = []
    for page, text in zip(PAGES, texts, strict=True):
        places += [(page, node) for node in page.nodes if node.text == text and node.is_text][:1]
    return Finding(attribute, confidence, places, 1.0, found)


def values(finding: Finding) -> list[str]:
    return [node.text for _, node in finding.places]


def test_the_data_of_pages_are_findings_at_the_nodes_that_show_them() -> None:
    title, author = EmbeddedLabeler(SCHEMA).find(PAGES)
    assert values(title) == ["Emma", "Ulysses", "Dubliners"]
    assert values(author) == ["Jane Austen", "James Joyce", "J. Joyce"]
    assert title.coverage == 1.0
    assert {node.parent.tag for _, node in title.places} == {"h1"}


def test_findings_that_agree_are_surer() -> None:
    taught = find_texts("title", 0.6, ["Emma", "Ulysses", "Dubliners"])
    data = EmbeddedLabeler(SCHEMA).find(PAGES)
    title = combine_findings([taught], data)[0]
    assert agreement(taught, data[0]) == 1.0
    assert title.confidence > 0.95
    assert title.places == taught.places


def test_the_data_overrule_another_field() -> None:
    taught = find_texts("title", 0.6, ["Also: Persuasion"] * 3)
    title = combine_findings([taught], EmbeddedLabeler(SCHEMA).find(PAGES))[0]
    assert values(title) == ["Emma", "Ulysses", "Dubliners"]


def test_data_of_few_pages_overrule_nothing() -> None:
    taught = find_texts("title", 0.6, ["Emma", "Ulysses", "Dubliners"])
    (rare,) = [f for f in EmbeddedLabeler(SCHEMA).find(PAGES[:1]) if f.attribute == "title"]
    rare = Finding("title", 0.95, rare.places, 0.1, True)
    assert combine_findings([taught], [rare])[0].confidence == 0.6


def test_attributes_that_only_the_data_name_are_found() -> None:
    combined = combine_findings([], EmbeddedLabeler(SCHEMA).find(PAGES))
    assert [finding.attribute for finding in combined] == ["title", "author"]
    assert {finding.source for finding in combined} == {"auto"}
