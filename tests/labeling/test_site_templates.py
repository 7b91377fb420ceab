"""A site of several templates is labeled template by template; what lists many records is not labeled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import untemplate as ut
from untemplate import Attribute, Label, Page, Schema
from untemplate.demo import Site, make_site
from untemplate.labeling.label import Finding
from untemplate.labeling.site_templates import (
    MIN_TEMPLATE_PAGES,
    drop_list_templates,
    is_list_template,
    pages_of_labeled_templates,
    split_templates,
)

SCHEMA = Schema("shop", {name: Attribute(name) for name in ("name", "maker", "price")})
PRODUCTS = [(f"Chair {number}", f"Maker {number}", f"${number}0.50") for number in range(1, 9)]


def found(page: Page, texts: tuple[str, ...]) -> list[Finding]:
    nodes = {node.text: node for node in page.nodes}
    return [
        Finding(name, 0.9, [(page, nodes[text])], 1.0, True)
        for name, text in zip(SCHEMA.attributes, texts, strict=False)
    ]


def listing(row: Callable[[tuple[str, ...]], str], tag: str) -> Page:
    return Page(
        html=f"<html><body><h1>All chairs</h1><{tag}>{''.join(map(row, PRODUCTS))}</{tag}></body></html>"
    )


TABLE = listing(lambda one: f"<tr>{''.join(f'<td>{text}</td>' for text in one)}</tr>", "table")
TERMS = listing(lambda one: f"<dt>{one[0]}</dt><dd>{one[1]}</dd><dd>{one[2]}</dd>", "dl")


@pytest.mark.parametrize("page", [TABLE, TERMS], ids=["table", "terms"])
@pytest.mark.parametrize("product", PRODUCTS[::3])
def test_values_of_one_of_many_records(page: Page, product: tuple[str, ...]) -> None:
    assert is_list_template(found(page, product), SCHEMA)
    assert is_list_template(found(page, ("All chairs", *product[1:])), SCHEMA)


def test_facts_of_one_record_are_no_list() -> None:
    facts = {"Name": "Chair 1", "Maker": "Maker 1", "Price": "$10.50", "Color": "red", "Legs": "four"}
    rows = "".join(f"<tr><td>{label}</td><td>{value}</td></tr>" for label, value in facts.items())
    page = Page(html=f"<html><body><table>{rows}</table></body></html>")
    assert not is_list_template(found(page, ("Chair 1", "Maker 1", "$10.50")), SCHEMA)


def test_what_stands_beside_a_list_is_not_of_it() -> None:
    page = Page(
        html="<html><body><h1>Stool</h1><p>by Oak Ltd</p><p>$99.00</p><h2>More</h2>"
        + TABLE.text.partition("</h1>")[2]
    )
    assert not is_list_template(found(page, ("Stool", "by Oak Ltd", "$99.00")), SCHEMA)
    assert not is_list_template([], SCHEMA)


def test_if_all_are_lists_the_surest_is_kept() -> None:
    one, other = (found(TABLE, product) for product in PRODUCTS[:2])
    unsure = [replace(finding, confidence=0.3) for finding in one]
    assert drop_list_templates([unsure, other], SCHEMA) == [1]
    assert drop_list_templates([unsure], SCHEMA) == [0]
    facts = found(Page(html="<h1>Stool</h1><p>Oak</p><p>$9</p>"), ("Stool", "Oak", "$9"))
    assert drop_list_templates([unsure, facts, other], SCHEMA) == [1]
    assert drop_list_templates([], SCHEMA) == []


def test_few_pages_are_one_template() -> None:
    pages = [Page(id=str(number), html=f"<p>{number}</p>") for number in range(MIN_TEMPLATE_PAGES - 1)]
    assert split_templates(pages) == [pages]


@pytest.fixture(scope="module")
def sites() -> list[Site]:
    return [make_site("job", number, 45) for number in (203, 204)]


def test_templates_are_labeled_by_themselves(sites: list[Site]) -> None:
    """Both sites have two templates of detail pages, and list pages."""
    taught, new = sites
    knowledge = ut.train([(taught.pages, taught.labels)], taught.schema)
    labeled = {label.page for label in knowledge.label(new.pages)}
    assert labeled <= set(new.truth)
    assert len(labeled) > 0.9 * len(new.truth)


def test_pages_of_templates_without_labels_teach_nothing(sites: list[Site]) -> None:
    site = sites[0]
    assert {page.id for page in pages_of_labeled_templates(site.pages, site.labels)} == set(site.truth)
    assert pages_of_labeled_templates(site.pages, [Label("elsewhere", "title", "x")]) == []
