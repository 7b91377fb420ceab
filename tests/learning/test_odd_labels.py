"""Labels that contradict the others do not teach; values that really are elsewhere do."""

from __future__ import annotations

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
