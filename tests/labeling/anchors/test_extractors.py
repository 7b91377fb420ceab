"""Candidate extractors: algorithm 1 with the threshold of section 6, offsets, and the paper's own numbers."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.labeling.anchors.events import SCHEMA, event_pages, event_site
from untemplate import Page
from untemplate.labeling.anchors.extractors import (
    MIN_THRESHOLD,
    OFFSET,
    WINDOW,
    Extractors,
    LeafSequence,
    annotate_site,
    annotation_threshold,
    choose_xpaths,
)
from untemplate.labeling.nodes import NodeTable
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.page.arrays import Ints


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
