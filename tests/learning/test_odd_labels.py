"""Labels that contradict the others do not teach; values that really are elsewhere do."""

from __future__ import annotations

import pytest

from untemplate import Attribute, Label, Page, Schema, learn

SCHEMA = Schema("shop", {"phone": Attribute("phone")})
HTML = "<h1>Shop {0}</h1><ul><li>Fax: <i>77-{0}</i></li><li>Tel: <b>555-{0}</b></li></ul><p>Open {0} days</p>"
PAGES = [Page(id=str(number), html=HTML.format(number)) for number in range(12)]


def learn_phones(values: list[str]) -> list[str | None]:
    """Return the phones of the pages that are not labeled."""
    labels = [Label(str(number), "phone", value) for number, value in enumerate(values)]
    rules = learn(PAGES, labels, SCHEMA)
    return [record["phone"] for record in rules.extract(PAGES[len(values) :])]


def test_one_wrong_label_of_five_changes_nothing() -> None:
    right = [f"555-{number}" for number in range(5)]
    for wrong in ("77-2", "Shop 2", "Open 2 days", "an invented value"):
        found = learn_phones([*right[:2], wrong, *right[3:]])
        assert found == [f"555-{number}" for number in range(5, 12)], wrong


@pytest.mark.parametrize(
    "wrong",
    [
        ("77-0", "Shop 1", "an invented value"),
        ("Shop 0", "Open 1 days", "77-2"),
        ("Tel:", "Fax:", "Tel:"),
    ],
)
def test_two_labels_that_agree_outvote_three_that_do_not(wrong: tuple[str, ...]) -> None:
    found = learn_phones([*wrong, "555-3", "555-4"])
    assert found == [f"555-{number}" for number in range(5, 12)]


def test_a_mistake_may_be_a_part_of_the_same_text() -> None:
    """Everything on a page is in its title, too: that is no place at which labels agree."""
    html = "<title>Shop {0} 77-{0} 555-{0}</title>" + HTML
    pages = [Page(id=str(number), html=html.format(number)) for number in range(12)]
    values = ["555-0", "555-1", "77-2", "555-3", "555-4"]
    labels = [Label(str(number), "phone", value) for number, value in enumerate(values)]
    records = learn(pages, labels, SCHEMA).extract(pages[5:])
    assert [record["phone"] for record in records] == [f"555-{number}" for number in range(5, 12)]


def test_a_mistake_may_be_at_the_place_that_other_pages_have_for_the_value() -> None:
    """Without a line in front, the next value moves to the same position."""
    full = "<table><tr><td>Fax: {0}</td></tr><tr><td>Tel:</td><td>55{0}</td><td>Web:</td><td>w{0}</td></tr></table>"
    pages = [Page(id=str(number), html=full.format(100 + number)) for number in range(12)]
    short = full.replace("<tr><td>Fax: {0}</td></tr>", "")
    pages[2] = Page(id="2", html=short.format(102))
    values = ["55100", "55101", "Web:", "55103", "55104"]
    labels = [Label(str(number), "phone", value) for number, value in enumerate(values)]
    records = learn(pages, labels, SCHEMA).extract(pages[5:])
    assert [record["phone"] for record in records] == [f"55{number}" for number in range(105, 112)]


def test_alternatives_that_no_other_page_supports_do_not_teach() -> None:
    values = [(f"77-{number}", f"555-{number}") for number in range(4)]
    labels = [Label(str(page), "phone", value) for page, both in enumerate(values) for value in both]
    labels += [Label("4", "phone", value) for value in ("Shop 4", "555-4")]
    rules = learn(PAGES, labels, SCHEMA)
    found = [record["phone"] for record in rules.extract(PAGES[5:])]
    assert found in ([f"555-{n}" for n in range(5, 12)], [f"77-{n}" for n in range(5, 12)])


def test_marks_are_not_the_same_value() -> None:
    """Neither "|" nor "-" has letters or digits, by which values are compared otherwise."""
    html = HTML.replace("<p>", "<p>| - ") + "<i>|</i><b>-</b>"
    pages = [Page(id=str(number), html=html.format(number)) for number in range(12)]
    values = ["555-0", "|", "555-2", "-", "555-4"]
    labels = [Label(str(number), "phone", value) for number, value in enumerate(values)]
    records = learn(pages, labels, SCHEMA).extract(pages[5:])
    assert [record["phone"] for record in records] == [f"555-{number}" for number in range(5, 12)]


def test_a_value_at_another_place_is_no_mistake_where_the_usual_one_is_empty() -> None:
    moved = "<h1>Shop {0}</h1><ul><li>Fax: <i>77-{0}</i></li></ul><p>Call <em>555-{0}</em></p>"
    pages = [Page(id=str(n), html=(moved if n % 4 == 3 else HTML).format(n)) for n in range(16)]
    labels = [Label(str(number), "phone", f"555-{number}") for number in range(8)]
    rules = learn(pages, labels, SCHEMA)
    assert [record["phone"] for record in rules.extract(pages[8:])] == [f"555-{n}" for n in range(8, 16)]


def test_labels_of_another_type_have_no_say() -> None:
    schema = Schema("shop", {"phone": Attribute("phone", "phone")})
    html = HTML.replace("555-{0}", "212-555-01{0:02}")
    pages = [Page(id=str(number), html=html.format(number)) for number in range(12)]
    values = ["212-555-0100", "Shop 1", "212-555-0102", "Open 3 days", "Shop 4"]
    labels = [Label(str(number), "phone", value) for number, value in enumerate(values)]
    records = learn(pages, labels, schema).extract(pages[5:])
    assert [record["phone"] for record in records] == [f"212-555-01{number:02}" for number in range(5, 12)]


def test_labels_that_hop_between_two_values_teach_the_place_of_most() -> None:
    """An automatic labeler may name the first of two authors on most pages, and the second on others."""
    names = ["Ann Lee", "Bob Ray", "Cy Dean", "Di Fox", "Ed Orr", "Flo Kay", "Gus Ham"]
    pages, labels = [], []
    for n in range(14):
        first, second = names[n % 7], names[(3 * n + 1) % 7]
        html = f"<h1>Book {n}</h1><p>by <a href=/a/{n}>{first}</a>, <a href=/b/{n}>{second}</a></p><p>${n}.99</p>"
        pages.append(Page(url=f"http://books.example/{n}", id=str(n), html=html))
        labels.append(Label(str(n), "author", first if n % 3 else second))
    rules = learn(pages, labels[:10], Schema("book", {"author": Attribute("author")}))
    assert [rules.extract_one(page)["author"] for page in pages] == [names[n % 7] for n in range(14)]
