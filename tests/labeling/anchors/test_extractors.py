"""Annotators mark what looks like an attribute: ready-made ones by type, others as the schema declares them.

Candidate extractors: algorithm 1 with the threshold of section 6, offsets, and the paper's own numbers.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.labeling.anchors.events import SCHEMA, event_pages, event_site
from untemplate import Attribute, Page, Schema
from untemplate.labeling.anchors.extractors import (
    MIN_THRESHOLD,
    OFFSET,
    WINDOW,
    Annotator,
    Extractors,
    LeafSequence,
    WordListAnnotator,
    annotate_site,
    annotation_threshold,
    choose_xpaths,
    type_annotator,
)
from untemplate.labeling.nodes import NodeTable
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.page.arrays import Ints
from untemplate.schema import Hints
from untemplate.value_types import Like


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


def xpaths_of(site: SiteFields, name: str, share: float = 0.5) -> Ints:
    marks = annotate_site(site, SCHEMA, {})[name]
    return choose_xpaths(site.fields, marks, site.candidates(SCHEMA.attributes[name]), share)


def texts_of(site: SiteFields, field: int) -> list[str]:
    return [site.table.nodes[row].text for row in site.fields.rows_of(field)]


def mixed_survey(before: int, after: int, pages: int = 12) -> SiteFields:
    """A date among so many leaves, each at another path on every page, so that no XPath leads to them."""
    random = Random(0)
    bodies = []
    for n in range(pages):
        around = [
            f"<{tag}>{tag} {n} {k}</{tag}>" for k in range(before + after) for tag in random.choice("biusp")
        ]
        bodies.append("".join([*around[:before], f"<h2>{1 + n} May 2012</h2>", *around[before:]]))
    return SiteFields(
        [Page(id=str(n), html=f"<html><body>{body}</body></html>") for n, body in enumerate(bodies)], SCHEMA
    )


def offsets_of(site: SiteFields) -> dict[int, float]:
    """The offsets from a date at which there are extractors, 0 being the date itself, and their exceptions."""
    anchor = int(xpaths_of(site, "date")[0])
    extractors = Extractors(site.fields, LeafSequence(site.table), [anchor])
    return {
        offset: float(extractors.exceptions[number])
        for number, (origin, offset) in enumerate(extractors.origins)
        if origin == anchor
    }


def test_the_paper_s_number_of_candidates() -> None:
    """Two anchors with two XPaths each, three other attributes, a window of 7: 13,500 to 108,000 extractors."""
    offsets = offsets_of(mixed_survey(10, 10))
    assert set(offsets) == set(range(-WINDOW, WINDOW + 1))
    assert 2**2 * len(offsets) ** 3 == 13_500
    assert 2**2 * (2 * len(offsets)) ** 3 == 108_000


@given(st.floats(0, 1), st.floats(0, 1))
def test_an_xpath_annotated_as_often_as_expected_is_chosen(recall: float, share: float) -> None:
    """Section 6: the true XPath is chosen if the threshold is at most φ R."""
    assert annotation_threshold(recall, share) <= max(MIN_THRESHOLD, recall * share)


def test_few_xpaths_are_chosen_though_half_of_the_annotations_are_wrong() -> None:
    """Wrong annotations stand in other places from page to page, and right ones at the same."""
    site = event_site(noise=True)
    marks = annotate_site(site, SCHEMA, {})["date"]
    right = np.array([node.parent.get("class") == "date" for node in site.table.nodes])
    assert marks[right].all()
    assert (marks & ~right).sum() == marks[right].sum(), "a precision of one half"
    chosen = xpaths_of(site, "date")
    assert 1 <= len(chosen) <= 2
    assert all("March" in text for text in texts_of(site, int(chosen[0])))


def test_a_rarely_annotated_xpath_needs_a_low_threshold() -> None:
    site = event_site()
    marks = annotate_site(site, SCHEMA, {})["date"]
    marks[np.flatnonzero(marks)[::2]] = False
    among = site.candidates(SCHEMA.attributes["date"])
    assert not len(choose_xpaths(site.fields, marks, among, 0.6))
    assert len(choose_xpaths(site.fields, marks, among, 0.5))


def test_others_stand_at_offsets_from_an_anchor() -> None:
    site = event_site()
    anchor = int(xpaths_of(site, "date")[0])
    extractors = Extractors(site.fields, LeafSequence(site.table), [anchor])
    found = site.with_fields(extractors)
    by_offset = {
        offset: texts_of(found, number)[0]
        for number, (origin, offset) in enumerate(extractors.origins)
        if origin == anchor and extractors.grouping[number] == OFFSET
    }
    assert all(0 < abs(offset) <= WINDOW for offset in by_offset)
    # Offsets whose nodes are those of an XPath are not told twice.
    assert set(by_offset.values()) <= {"Location:", "Gym 0", "Spring concert 0", "1:30 pm"}


def test_an_offset_beyond_the_page_is_an_exception() -> None:
    """The paper's: a date on the top of a page has nothing 7 leaves before it."""
    assert not any(offset < 0 for offset in offsets_of(mixed_survey(0, 10)))
    both = [*mixed_survey(20, 10, 8).table.pages, *mixed_survey(3, 10, 8).table.pages]
    found = offsets_of(SiteFields([Page(id=str(n), html=page.html) for n, page in enumerate(both)], SCHEMA))
    assert found[0] == found[-1] == 0
    assert found[-7] == 0.5


def test_paragraphs_of_one_value_are_one_leaf() -> None:
    paragraphs = ["".join(f"<p>Paragraph {n} {k}</p>" for k in range(1 + n % 3)) for n in range(6)]
    pages = [
        Page(id=str(n), html=f"<html><body><h1>Title {n}</h1>{text}<b>End {n}</b></body></html>")
        for n, text in enumerate(paragraphs)
    ]
    table = NodeTable(pages)
    leaves = LeafSequence(table)
    assert [int((leaves.page == page).sum()) for page in range(6)] == [3] * 6
    ends = np.flatnonzero([node.text.startswith("End") for node in table.nodes]).astype(np.int32)
    assert [table.nodes[row].text for row in leaves.shift(ends, -2)] == [f"Title {n}" for n in range(6)]


def test_a_fixed_number_of_nodes_alike_are_several_leaves() -> None:
    site = SiteFields(
        [Page(id=str(n), html=f"<html><body><p>Name {n}</p><p>City {n}</p></body></html>") for n in range(4)],
        SCHEMA,
    )
    assert len(LeafSequence(site.table)) == 8


@given(st.integers(-40, 40))
def test_offsets_lead_back(offset: int) -> None:
    leaves = LeafSequence(NodeTable(event_pages(4, noise=True)))
    there = leaves.shift(leaves.row, offset)
    back = leaves.shift(there[there >= 0], -offset)
    assert back.tolist() == leaves.row[there >= 0].tolist()
