"""Records around texts like the labeled ones, where no repeated group is the list that a person means."""

from __future__ import annotations

import pytest

from untemplate import Label, Page
from untemplate.labeling.list_labels import LocatedRecord, locate_lists
from untemplate.page import visible_text

CASES = ("Amber v. Birch", "Cedar v. Dune", "Ember v. Fjord", "Grove v. Heath", "Islet v. Jetty")


def docket(number: int) -> str:
    return f"24-{number + 1001}"


def page_of(record: str, before: str = "", after: str = "") -> Page:
    records = "".join(record.format(d=docket(n), name=name) for n, name in enumerate(CASES))
    return Page("http://court.example/", f"<body><h1>Opinions</h1>{before}{records}{after}<p>End</p></body>")


def anchored(page: Page) -> list[list[LocatedRecord]]:
    labels = [Label(page.id, "docket", docket(number), record=str(number)) for number in (0, 1)]
    return [records for records in locate_lists(page, labels) if records[0].anchor]


def texts(records: list[LocatedRecord]) -> list[str]:
    return [" ".join(map(visible_text, record.elements)) for record in records]


def test_an_anchor_is_in_the_largest_element_without_another_one() -> None:
    page = page_of("<section><h3>Day</h3><ul><li><b>{d}</b> <i>{name}</i></li></ul></section>")
    (records,) = anchored(page)
    assert texts(records) == [f"Day {docket(n)} {name}" for n, name in enumerate(CASES)]
    assert [bool(record.labels) for record in records] == [True, True, False, False, False]


def test_siblings_up_to_the_next_anchor_belong_to_a_record() -> None:
    rows = "<tr><td class=d>{d}</td><td>{name}</td></tr><tr><td></td><td>Reversed.</td></tr>"
    records = anchored(page_of(rows, "<table>", "</table>"))[0]
    assert [len(record.elements) for record in records] == [2] * 5


def test_records_may_be_texts_of_one_element() -> None:
    page = page_of("<a href=/x.pdf>{name}</a>, filed, {d}, today<br><br>", "<p class=all>", "</p>")
    records = anchored(page)[0]
    assert [record.lead.text if record.lead else "" for record in records] == [
        f", filed, {docket(n)}, today" for n in range(5)
    ]


def test_a_common_caption_separates_values_that_are_in_like_places() -> None:
    rows = "<tr><td>No.</td><td>{d}</td></tr><tr><td>Filed</td><td>5 May 2024</td></tr>"
    found = anchored(page_of(rows, "<table>", "</table>"))
    assert sorted(map(len, found)) == [5, 10]


@pytest.mark.parametrize(("link", "count"), [("/1.pdf", 2), ("/1", 5)])
def test_records_have_the_kind_of_link_that_the_labeled_ones_have(link: str, count: int) -> None:
    records = "".join(
        f"<li><b>{docket(n)}</b> <a href={link if n < 2 else '/2'}>{name}</a></li>"
        for n, name in enumerate(CASES)
    )
    menu = "<ul><li><b>24-7</b> no link</li></ul>"
    (found,) = anchored(Page("http://court.example/", f"<body><ul>{records}</ul>{menu}</body>"))
    assert len(found) == count


def test_rows_named_by_xpath_need_no_anchors() -> None:
    page = page_of("<li><b>{d}</b> {name}</li>", "<ul>", "</ul>")
    labels = [Label(page.id, "docket", docket(0), record="/html/body/ul/li[1]")]
    assert [records[0].anchor for records in locate_lists(page, labels)] == [None]
