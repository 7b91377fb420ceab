"""Rules of list pages: an alarm when records no longer come out, none for new records; heal keeps them."""

from __future__ import annotations

from untemplate import Attribute, Label, Page, Rules, Schema, heal, learn, watch
from untemplate.watching import heal_site

SCHEMA = Schema("tea", {"name": Attribute("name", mandatory=True), "price": Attribute("price", "price")})


def page_of(number: int, day: int = 0) -> Page:
    first = 100 * day + 10 * number
    items = (f"<h3>Tea {first + n}</h3><p>from hill {n * n}</p><b>€ {n}.50</b>" for n in range(8))
    return page_with(number, f"<ul>{''.join(f'<li class=hit>{item}</li>' for item in items)}</ul>")


def page_with(number: int, body: str) -> Page:
    html = f"<body><h1>Teas</h1>{body}<p>Imprint</p></body>"
    return Page(f"http://tea.example/?page={number}", html, str(number))


def rules_of() -> Rules:
    labels = [
        Label("1", attribute, value, record=str(n))
        for n in (0, 3)
        for attribute, value in (("name", f"Tea {10 + n}"), ("price", f"€ {n}.50"))
    ]
    return learn([page_of(number) for number in range(1, 5)], labels, SCHEMA)


RULES = rules_of()


def test_new_records_are_no_alarm() -> None:
    report = watch(RULES, [page_of(number, day=9) for number in range(1, 5)])
    assert report.alarms == []
    (figures,) = report.clusters
    assert figures.pages == 4
    assert figures.fill == {"name": 1.0, "price": 1.0}


def test_pages_without_records_are_an_alarm() -> None:
    report = watch(RULES, [page_with(number, "<div>Sorry</div>") for number in range(1, 5)])
    assert [(alarm.test, alarm.attribute) for alarm in report.alarms] == [("records", None)]
    assert report.alarms[0].pages == ("1", "2", "3", "4")


def test_rules_that_hold_are_kept() -> None:
    fresh = [page_of(number, day=9) for number in range(1, 5)]
    healed = heal_site(RULES, fresh)
    assert list(healed.reused.values()) == ["c1"]
    assert [wrapper.records for wrapper in healed.rules.wrappers] == [RULES.wrappers[0].records]
    assert [record["name"] for record in healed.rules.extract_page(fresh[0])] == [
        f"Tea {910 + n}" for n in range(8)
    ]


def test_rules_that_do_not_hold_are_kept_too_for_the_pages_as_they_were() -> None:
    healed = heal(RULES, [page_with(number, "<div>Sorry</div>") for number in range(1, 5)])
    assert RULES.wrappers[0].records in [wrapper.records for wrapper in healed.wrappers]
