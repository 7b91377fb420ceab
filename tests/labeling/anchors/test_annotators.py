"""Annotators mark what looks like an attribute: ready-made ones by type, others as the schema declares them."""

from __future__ import annotations

import pytest

from tests.labeling.anchors.events import SCHEMA, event_site
from untemplate import Attribute, Page, Schema
from untemplate.labeling.anchors.extractors import Annotator, WordListAnnotator, annotate_site, type_annotator
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.schema import Hints, Like


def marked(annotator: Annotator, site: SiteFields) -> set[str]:
    table = site.table
    return {table.nodes[row].text for row in (annotator.marks(site) & table.is_text).nonzero()[0]}


def texts_site(*texts: str) -> SiteFields:
    body = "".join(f"<p>{text}</p>" for text in texts)
    return SiteFields([Page(id="0", html=f"<html><body>{body}</body></html>")], Schema("any", {}))


@pytest.mark.parametrize(
    ("like", "right", "wrong"),
    [
        ("phone", "(212) 586-8655", "Chimichurri Grill"),
        ("date", "March 3, 2012", "a long time ago"),
        ("time", "7:30 pm", "half past seven"),
        ("price", "$25.99", "cheap"),
        ("zip", "NY 10036", "NY"),
        ("isbn", "978-0-596-52932-1", "Programming"),
        ("url", "http://example.com/a", "example"),
        ("email", "me@example.com", "me at example"),
        ("number", "1,024", "many"),
        ("state", "Portland, OR 97205", "One OR the other"),
        ("state", "West Virginia", "westward"),
        ("rating", "4.5 out of 5", "four of them"),
        ("rating", "3 stars", "the stars"),
        ("measure", "240 lbs", "heavy"),
        ("measure", "6-9", "six foot nine"),
        ("year", "printed in 1998", "printed in 998"),
        ("street", "606 9th Ave", "9th Avenue Bakery"),
    ],
)
def test_ready_made_annotators_know_common_types(like: Like, right: str, wrong: str) -> None:
    assert marked(type_annotator(like), texts_site(right, wrong)) == {right}


def test_what_is_found_in_a_long_text_is_found_by_chance() -> None:
    assert not marked(type_annotator("phone"), texts_site("Call (212) 586-8655 now. " * 20))


def test_what_all_pages_share_is_part_of_a_price() -> None:
    prices = [f"$ {number}3,100" for number in range(1, 9)]
    pages = [Page(id=price, html=f"<html><body><p>{price}</p></body></html>") for price in prices]
    assert marked(type_annotator("price"), SiteFields(pages, Schema("any", {}))) == {*prices}


def test_a_dictionary_knows_whole_texts_whatever_their_case() -> None:
    site = texts_site("ITALIAN", "Italian, French", "french")
    assert marked(WordListAnnotator(["Italian", "French"]), site) == {"ITALIAN", "french"}


def test_the_schema_declares_annotators() -> None:
    hints = {
        "where": Hints(pattern=r"^(Gym|Library)"),
        "title": Hints(words=("Book fair 1",)),
        "date": Hints(like="year"),
    }
    schema = Schema(
        "event", {name: Attribute(name) for name in ("where", "title", "date", "time")}, hints=hints
    )
    site = event_site()
    marks = annotate_site(site, schema, {})
    found = {name: {site.table.nodes[row].text for row in rows.nonzero()[0]} for name, rows in marks.items()}
    assert found["title"] == {"Book fair 1"}
    assert {text.split()[0] for text in found["where"]} == {"Gym", "Library"}
    assert all("2012" in text for text in found["date"])
    assert "time" not in found, "plain text without hints or seed sites has no annotator"


def test_a_type_is_an_annotator() -> None:
    marks = annotate_site(event_site(), SCHEMA, {})
    assert set(marks) == {"date", "time"}
    assert marks["time"].sum() == 20
